// The token of a student's running session, sealed with the server secret.
// mode: read
// scope: student
// params: institution: str, student_id: str, now: datetime
// returns: token: bytes
MATCH (session:OpenSession {institution: $institution, student_id: $student_id})
WHERE session.expires_at > $now
RETURN session.token AS token
