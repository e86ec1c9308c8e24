// Unanswered questions of a student, longest waiting first.
// mode: read, planned
// scope: student
// params: institution: str, student_id: str
// returns: question: map
MATCH (question:Question {institution: $institution, student_id: $student_id})
WHERE question.id IS NOT NULL AND question.state <> 'answered'
RETURN properties(question) AS question
ORDER BY question.created_at, question.id
