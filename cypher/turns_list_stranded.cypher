// Sessions that run and hold a message nobody answered in time, of any student.
// mode: read
// scope: service
// params: before: datetime, now: datetime, limit: int
// returns: token: bytes
MATCH (turn:Turn {state: 'received'})
WHERE turn.received_at < $before
MATCH (session:OpenSession {institution: turn.institution, student_id: turn.student_id, id: turn.session_id})
WHERE session.expires_at > $now
RETURN DISTINCT session.token AS token
LIMIT $limit
