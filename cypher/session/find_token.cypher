// The token of a student's running session that was used last, sealed with the server secret.
// mode: read
// scope: student
// params: institution: str, student_id: str, now: datetime
// returns: token: bytes
MATCH (session:OpenSession {institution: $institution, student_id: $student_id})
WHERE session.expires_at > $now
RETURN session.token AS token ORDER BY session.expires_at DESC, session.id LIMIT 1
