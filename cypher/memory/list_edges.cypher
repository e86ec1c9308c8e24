// The edges of one memory, to memories, entities and concepts, strongest first.
// mode: read
// scope: student
// params: institution: str, student_id: str, id: str, type: str, min_weight: float
// returns: edges: list of [type: str, weight: float, from_id: str, to_id: str, to_label: str, created_at: int in ms]
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: $id})
USING INDEX memory:Memory(institution, student_id, id)
OPTIONAL MATCH (memory)-[edge]-(:Memory|Entity|Concept)
WHERE edge.weight >= $min_weight AND ($type IS NULL OR type(edge) = $type)
WITH edge ORDER BY edge.weight DESC, edge.created_at, endNode(edge).id
WITH edge, endNode(edge) AS to
RETURN [edge IN collect(CASE WHEN edge IS NULL THEN NULL ELSE [
  type(edge), edge.weight, startNode(edge).id, to.id,
  CASE WHEN to:Memory THEN 'Memory' WHEN to:Entity THEN 'Entity' ELSE 'Concept' END, edge.created_at.epochMillis
] END) | edge] AS edges
