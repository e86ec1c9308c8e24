// The memories that come from an observation alone. No row without such an observation, or when the session has ended.
// mode: read
// scope: student
// params: institution: str, student_id: str, session_id: str, id: str, now: datetime
// returns: memories: list of str
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now
MATCH (source:Source {institution: $institution, student_id: $student_id})
WHERE source.kind IS NOT NULL AND source.ref IS NOT NULL AND source.id = $id
  // The source of a turn goes with its memories.
  AND NOT EXISTS { (:Turn)-[:FORMED_FROM]->(source) }
RETURN COLLECT { MATCH (memory:Memory)-[:FORMED_FROM]->(source)
                 WHERE memory.role = 'said' AND NOT EXISTS { MATCH (memory)-[:FORMED_FROM]->(other:Source) WHERE other <> source }
                 RETURN memory.id } AS memories
