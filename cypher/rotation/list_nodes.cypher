// Every node of a student that may hold sealed values, by its element id.
// mode: read
// scope: student
// params: institution: str, student_id: str
// returns: element: str
CALL () {
  MATCH (node:Student {institution: $institution, id: $student_id}) RETURN node
  UNION ALL
  MATCH (node:Companion {institution: $institution, student_id: $student_id}) RETURN node
  UNION ALL
  MATCH (node:Memory {institution: $institution, student_id: $student_id}) WHERE node.id IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:Fact {institution: $institution, student_id: $student_id}) WHERE node.id IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:LedgerEntry {institution: $institution, student_id: $student_id}) WHERE node.id IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:Uncertainty {institution: $institution, student_id: $student_id}) WHERE node.id IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:Concern {institution: $institution, student_id: $student_id}) WHERE node.id IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:Question {institution: $institution, student_id: $student_id}) WHERE node.id IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:Reflection {institution: $institution, student_id: $student_id}) WHERE node.id IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:Turn {institution: $institution, student_id: $student_id}) WHERE node.id IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:Entity {institution: $institution, student_id: $student_id}) WHERE node.key IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:Job {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL AND node.payload IS NOT NULL RETURN node
}
RETURN elementId(node) AS element
