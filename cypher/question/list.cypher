// Unanswered questions of a student, longest waiting first.
// mode: read
// scope: student
// params: institution: str, student_id: str
// returns: id: str, created_at: datetime, state: str, text: bytes
MATCH (question:Question {institution: $institution, student_id: $student_id})
WHERE question.id IS NOT NULL AND question.state <> 'answered'
RETURN question.id AS id, question.created_at AS created_at, question.state AS state, question.text AS text
ORDER BY created_at, id
