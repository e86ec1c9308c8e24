// Delete waiting questions that were raised by memories of which none holds any more.
// mode: write
// scope: student
// params: institution: str, student_id: str
// returns: deleted: int, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
WITH student, COLLECT {
  MATCH (question:Question {institution: $institution, student_id: $student_id})
  WHERE question.id IS NOT NULL AND question.state = 'waiting'
    AND NOT EXISTS { MATCH (memory:Memory)-[:RAISES]->(question) WHERE memory.invalid_at IS NULL }
  RETURN question
} AS idle
// A counted version tells every replica that the questions it holds are stale.
SET student.version = student.version + CASE WHEN idle = [] THEN 0 ELSE 1 END
WITH idle, [question IN idle | question.id] AS ids
FOREACH (question IN idle | DETACH DELETE question)
RETURN size(ids) AS deleted,
       [id IN ids | {label: 'Question', id: id, gone: true}] AS touched
