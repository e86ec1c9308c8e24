// Students, of any institution, with a closing session that no process is at.
// mode: read
// scope: service
// params: now: datetime, limit: int
// returns: institution: str, student_id: str
MATCH (session:OpenSession)
WHERE session.expires_at > $now AND session.closing AND coalesce(session.worked_until <= $now, true)
WITH session ORDER BY session.expires_at LIMIT $limit
RETURN DISTINCT session.institution AS institution, session.student_id AS student_id
