// Memories of some concepts, formed of sources in which they were practised or about them; the newest first.
// mode: read
// scope: student
// params: institution: str, student_id: str, ids: list of str, limit: int
// returns: id: str, memories: list of str
UNWIND $ids AS id
MATCH (concept:Concept {institution: $institution, id: id})
RETURN id, COLLECT {
  CALL (concept) {
    MATCH (memory:Memory {institution: $institution, student_id: $student_id})-[:ABOUT]->(concept)
    RETURN memory
    UNION
    MATCH (memory:Memory {institution: $institution, student_id: $student_id})-[:FORMED_FROM]->
          (:Source {institution: $institution, student_id: $student_id})-[:PRACTISED]->(concept)
    RETURN memory
  }
  WITH memory ORDER BY memory.timestamp DESC, memory.id LIMIT $limit
  RETURN memory.id } AS memories
