// A page of the open sessions with a message that was not answered in time, one of each student, by id.
// mode: read
// scope: service
// params: after: str, before: datetime, now: datetime, limit: int
// returns: id: str, token: bytes
MATCH (turn:Turn {state: 'received'})
WHERE turn.received_at < $before
MATCH (session:OpenSession {institution: turn.institution, student_id: turn.student_id})
WHERE session.expires_at > $now AND session.id > $after
  AND NOT EXISTS {
    MATCH (other:OpenSession {institution: session.institution, student_id: session.student_id})
    WHERE other.id < session.id AND other.expires_at > $now
  }
RETURN DISTINCT session.id AS id, session.token AS token
ORDER BY id LIMIT $limit
