// Take the closing sessions of a student that no process is at, or not for some time.
// mode: write
// scope: student
// params: institution: str, student_id: str, worked_until: datetime, now: datetime
// returns: token: bytes, since: datetime
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it, so that of two processes one takes them.
SET student.jobs_at = coalesce(student.jobs_at, student.created_at)
WITH student
MATCH (session:OpenSession {institution: $institution, student_id: $student_id})
WHERE session.closing AND session.expires_at > $now AND coalesce(session.worked_until <= $now, true)
SET session.worked_until = $worked_until
RETURN session.token AS token, session.opened_at AS since
