// Mark a question as answered; a second time changes nothing. No row without such a question.
// mode: write
// scope: student
// params: institution: str, student_id: str, question_id: str, now: datetime
// returns: id: str, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (question:Question {institution: $institution, student_id: $student_id, id: $question_id})
SET student.version = student.version + CASE question.state WHEN 'answered' THEN 0 ELSE 1 END,
    question.state = 'answered', question.answered_at = coalesce(question.answered_at, $now)
RETURN question.id AS id,
       [{label: 'Question', id: question.id, set: ['state', 'answered_at']}] AS touched
