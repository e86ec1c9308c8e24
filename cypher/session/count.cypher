// Sessions of all students that have not ended.
// mode: read
// scope: service
// params: now: datetime
// returns: sessions: int
MATCH (session:OpenSession)
WHERE session.expires_at > $now AND session.closing IS NULL
RETURN count(session) AS sessions
