// Time of the oldest message without a reply, of any student whose session runs.
// mode: read
// scope: service
// params:
// returns: received_at: datetime
MATCH (turn:Turn {state: 'received'})
WHERE turn.received_at IS NOT NULL
  AND EXISTS { (session:OpenSession {institution: turn.institution, student_id: turn.student_id})
               WHERE session.id IS NOT NULL }
RETURN turn.received_at AS received_at
ORDER BY received_at
LIMIT 1
