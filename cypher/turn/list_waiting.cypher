// The messages of a student that were received and not answered, oldest first.
// mode: read
// scope: student
// params: institution: str, student_id: str
// returns: turn: map
MATCH (turn:Turn {institution: $institution, student_id: $student_id})
WHERE turn.id IS NOT NULL AND turn.state = 'received'
RETURN turn {.id, .text, .given_reply, .task, .opener, .used, .at} AS turn
ORDER BY turn.at
