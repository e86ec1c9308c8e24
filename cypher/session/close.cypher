// End a session. With the student's last one its keys pass to a closing session, which only background work uses.
// No row, and nothing written, when this session does not run.
// mode: write
// scope: student
// params: institution: str, student_id: str, session_id: str, closing_id: str, token: bytes, expires_at: datetime, worked_until: datetime or null, now: datetime
// returns: last: bool
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it, so that no turn comes in between.
SET student.jobs_at = coalesce(student.jobs_at, student.created_at)
WITH student
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.closing IS NULL
WITH student, session,
     NOT EXISTS {
       MATCH (other:OpenSession {institution: $institution, student_id: $student_id})
       WHERE other.id IS NOT NULL AND other.id <> $session_id AND other.expires_at > $now AND other.closing IS NULL
     } AS last
SET student.version = student.version + 1
DETACH DELETE session
FOREACH (each IN CASE WHEN last THEN [student] ELSE [] END |
  CREATE (each)-[:OPENED]->(:OpenSession {institution: $institution, student_id: $student_id, id: $closing_id,
                                         token: $token, opened_at: $now, expires_at: $expires_at, ends_at: $expires_at,
                                         closing: true, worked_until: $worked_until}))
RETURN last
