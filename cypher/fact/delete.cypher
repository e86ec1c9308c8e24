// Delete a fact for good. No row, and nothing written, when the session has ended.
// mode: write
// scope: student
// params: institution: str, student_id: str, session_id: str, id: str, now: datetime
// returns: deleted: bool, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now
// Writing the student locks it, and a counted version tells every replica that what it holds is stale.
SET student.version = student.version + 1
WITH student
OPTIONAL MATCH (fact:Fact {institution: $institution, student_id: $student_id, id: $id})
WITH fact, fact IS NOT NULL AS deleted
DETACH DELETE fact
RETURN deleted,
       [{label: 'Fact', id: $id, gone: true}] AS touched
