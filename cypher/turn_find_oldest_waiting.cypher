// When the oldest message without a reply came in, of any student.
// mode: read
// scope: service
// params:
// returns: received_at: datetime
MATCH (turn:Turn {state: 'received'})
RETURN turn.received_at AS received_at
ORDER BY received_at
LIMIT 1
