// Let a running session end later, since it is used; never later than its latest end.
// No row, and nothing written, when it does not run.
// mode: write
// scope: student
// params: institution: str, student_id: str, session_id: str, expires_at: datetime, now: datetime
// returns: expires_at: datetime
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now AND session.closing IS NULL
WITH session, coalesce(session.ends_at, session.expires_at) AS ends_at
WITH session, CASE WHEN $expires_at < ends_at THEN $expires_at ELSE ends_at END AS until
SET session.expires_at = CASE WHEN until > session.expires_at THEN until ELSE session.expires_at END
RETURN session.expires_at AS expires_at
