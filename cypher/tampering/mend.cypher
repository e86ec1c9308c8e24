// Set properties of nodes and relationships whose values Neo4j cannot compute with; null takes one away.
// mode: write
// scope: student
// params: institution: str, student_id: str, changed: list of map
// returns: changed: int
MATCH (student:Student {institution: $institution, id: $student_id})
// Every write of a student's graph writes the student first, and so waits.
SET student.jobs_at = student.jobs_at
WITH student
UNWIND $changed AS each
CALL (each) {
  MATCH (node) WHERE elementId(node) = each.element
    AND node.institution = $institution AND (node.id = $student_id OR node.student_id = $student_id)
  SET node += each.properties
  RETURN 1 AS one
  UNION ALL
  MATCH (from)-[edge]->() WHERE elementId(edge) = each.element
    AND from.institution = $institution AND $student_id IN [from.id, from.student_id, edge.student_id]
  SET edge += each.properties
  RETURN 1 AS one
}
RETURN count(*) AS changed
