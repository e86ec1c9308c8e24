// Edges of a student's memories by type: number, mean weight, and the mind that inferred them.
// mode: read
// scope: student
// params: institution: str, student_id: str
// returns: type: str, inferred_by: str, edges: int, weight: float
MATCH (memory:Memory {institution: $institution, student_id: $student_id})-[edge]->(:Memory|Entity|Concept)
WHERE memory.id IS NOT NULL
RETURN type(edge) AS type, edge.inferred_by AS inferred_by, count(edge) AS edges, avg(edge.weight) AS weight
ORDER BY edges DESC, type, inferred_by
