// Drop the sealed embeddings of a page of students, by institution and id.
// mode: write
// scope: service
// params: after_institution: str, after_id: str, limit: int
// returns: institution: str, student_id: str, dropped: int
MATCH (student:Student)
WHERE student.institution >= $after_institution
  AND CASE WHEN student.institution = $after_institution THEN student.id > $after_id ELSE true END
WITH student ORDER BY student.institution, student.id LIMIT $limit
CALL (student) {
  MATCH (memory:Memory {institution: student.institution, student_id: student.id})
  WHERE memory.id IS NOT NULL AND memory.embedding IS NOT NULL
  RETURN memory AS node
  UNION ALL
  MATCH (student)-[:KEEPS]->(entry:LedgerEntry) WHERE entry.embedding IS NOT NULL
  RETURN entry AS node
  UNION ALL
  MATCH (student)<-[:ACCOMPANIES]-(companion:Companion) WHERE companion.prediction_embedding IS NOT NULL
  RETURN companion AS node
  UNION ALL
  // A row for a student without any, so that the page ends where it should.
  RETURN null AS node
}
REMOVE node.embedding, node.prediction_embedding
RETURN student.institution AS institution, student.id AS student_id, count(node) AS dropped
ORDER BY institution, student_id
