// The answered turns of a running session, oldest first.
// mode: read
// scope: student
// params: institution: str, student_id: str, session_id: str
// returns: id: str, seq: int, at: datetime, text: bytes, reply: bytes
MATCH (turn:Turn {institution: $institution, student_id: $student_id})
WHERE turn.session_id = $session_id AND turn.state = 'answered'
RETURN turn.id AS id, turn.seq AS seq, turn.at AS at, turn.text AS text, turn.reply AS reply
ORDER BY turn.seq
