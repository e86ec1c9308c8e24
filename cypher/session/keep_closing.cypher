// Go on holding a closing session, so that no other process takes it up.
// No row, and nothing written, once it is done.
// mode: write
// scope: student
// params: institution: str, student_id: str, session_id: str, worked_until: datetime
// returns: worked_until: datetime
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.closing
SET session.worked_until = $worked_until
RETURN session.worked_until AS worked_until
