// Begin to erase a student: from here on nothing can be written of the student, and nobody of this id enrolled.
// No row where nothing is kept of anybody of this id.
// mode: write
// scope: student
// params: institution: str, student_id: str, now: datetime
// returns: edges: int, other: int
OPTIONAL MATCH (student:Student {institution: $institution, id: $student_id})
OPTIONAL MATCH (before:Erasure {institution: $institution, student_id: $student_id})
WITH student, before WHERE student IS NOT NULL OR before IS NOT NULL
MERGE (erasure:Erasure {institution: $institution, student_id: $student_id})
ON CREATE SET erasure.at = $now
// With them goes what every other statement finds the student, the keys and the work by.
WITH student, COLLECT {
  MATCH (session:OpenSession {institution: $institution, student_id: $student_id})
  WHERE session.id IS NOT NULL RETURN session
} AS sessions
CALL (student) {
  MATCH (student)-[:KNOWS]->(:Concept)
        -[discovered:DISCOVERED {institution: $institution, student_id: $student_id}]->(:Concept)
  DELETE discovered
  RETURN count(*) AS found
}
WITH found, sessions + CASE WHEN student IS NULL THEN [] ELSE [student] END AS nodes
CALL (nodes) {
  UNWIND nodes AS node
  OPTIONAL MATCH (node)-[relation]-()
  RETURN count(DISTINCT relation) AS edges
}
WITH nodes, edges + found AS edges, size(nodes) AS other
FOREACH (node IN nodes | DETACH DELETE node)
RETURN edges, other
