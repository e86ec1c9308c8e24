// Sessions whose time is over, of any student.
// mode: read
// scope: service
// params: now: datetime, limit: int
// returns: institution: str, student_id: str, session_id: str
MATCH (session:OpenSession)
WHERE session.expires_at <= $now
RETURN session.institution AS institution, session.student_id AS student_id, session.id AS session_id
LIMIT $limit
