// Answered questions and reflections older than a moment, of any student, some at a time, by student.
// mode: read
// scope: service
// params: before: datetime, limit: int
// returns: institution: str, student_id: str, ids: list of str
CALL () {
  MATCH (node:Question) WHERE node.answered_at < $before RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:Reflection) WHERE node.created_at < $before RETURN node LIMIT $limit
}
RETURN node.institution AS institution, node.student_id AS student_id, collect(node.id) AS ids
