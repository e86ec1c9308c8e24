// The messages of a student that were received and not answered, oldest first.
// mode: read
// scope: student
// params: institution: str, student_id: str
// returns: id: str, text: bytes, given_reply: bytes, task: bytes, opener: bytes, used: list of str, at: datetime
MATCH (turn:Turn {institution: $institution, student_id: $student_id})
WHERE turn.id IS NOT NULL AND turn.state = 'received'
RETURN turn.id AS id, turn.text AS text, turn.given_reply AS given_reply,
       turn.task AS task, turn.opener AS opener, turn.used AS used, turn.at AS at
ORDER BY turn.at
