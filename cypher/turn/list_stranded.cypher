// A page of the open sessions with a message that was not answered in time, of any student, by id.
// mode: read
// scope: service
// params: after: str, before: datetime, now: datetime, limit: int
// returns: id: str, token: bytes
MATCH (turn:Turn {state: 'received'})
WHERE turn.received_at < $before
MATCH (session:OpenSession {institution: turn.institution, student_id: turn.student_id, id: turn.session_id})
WHERE session.expires_at > $now AND session.id > $after
RETURN DISTINCT session.id AS id, session.token AS token
ORDER BY id LIMIT $limit
