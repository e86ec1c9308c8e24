// Compressions of a student's memories, newest first.
// mode: read
// scope: student
// params: institution: str, student_id: str, limit: int
// returns: compressions: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
RETURN COLLECT {
  MATCH (student)-[:COMPRESSED]->(compression:Compression {institution: $institution, student_id: $student_id})
  RETURN properties(compression) ORDER BY compression.at DESC, compression.id LIMIT $limit
} AS compressions
