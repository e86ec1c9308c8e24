// Edges of some memories of a student, to memories, entities and known concepts, strongest first.
// mode: read
// scope: student
// params: institution: str, student_id: str, ids: list
// returns: edges: list of [memory_id: str, type: str, weight: float, from_id: str, to_id: str, to_label: str, created_at: int in ms, reliability: str]
UNWIND $ids AS id
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: id})
USING INDEX memory:Memory(institution, student_id, id)
MATCH (memory)-[edge]-(other:Memory|Entity|Concept)
WHERE edge.weight IS NOT NULL AND (NOT other:Concept OR EXISTS {
  (:Student {institution: $institution, id: $student_id})-[:KNOWS]->(other)
})
WITH memory, edge, endNode(edge) AS to ORDER BY edge.weight DESC, edge.created_at, to.id
RETURN collect([
  memory.id, type(edge), edge.weight, startNode(edge).id, to.id,
  CASE WHEN to:Memory THEN 'Memory' WHEN to:Entity THEN 'Entity' ELSE 'Concept' END, edge.created_at.epochMillis,
  coalesce(edge.reliability, 'reliable')
]) AS edges
