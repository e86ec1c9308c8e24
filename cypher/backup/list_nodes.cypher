// Every node of a student, who is locked until the transaction ends, so that all of it is of one moment.
// Left out are sessions, password tries and reservations, which end with the server.
// mode: write
// scope: student
// params: institution: str, student_id: str
// returns: element: str, labels: list of str, properties: map
MATCH (student:Student {institution: $institution, id: $student_id})
// Every write of a student's graph writes the student first, and so waits.
SET student.jobs_at = student.jobs_at
WITH student
CALL () {
  MATCH (node:Student {institution: $institution, id: $student_id}) RETURN node
  UNION ALL
  MATCH (node:Companion {institution: $institution, student_id: $student_id}) RETURN node
  UNION ALL
  MATCH (node:Memory {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:Fact {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:LedgerEntry {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:Uncertainty {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:Compression {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:Turn {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:Source {institution: $institution, student_id: $student_id})
  WHERE node.kind IS NOT NULL AND node.ref IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:Entity {institution: $institution, student_id: $student_id})
  WHERE node.key IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:Concern {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:Question {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:Reflection {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:Job {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:Usage {institution: $institution, student_id: $student_id})
  WHERE node.day IS NOT NULL AND node.kind IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:StudentBudget {institution: $institution, student_id: $student_id})
  WHERE node.day IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:ManifestPage {institution: $institution, student_id: $student_id})
  WHERE node.number IS NOT NULL RETURN node
  UNION ALL
  MATCH (node:ManifestNote {institution: $institution, student_id: $student_id}) RETURN node
  UNION ALL
  MATCH (node:TamperedValue {institution: $institution, student_id: $student_id})
  WHERE node.label IS NOT NULL AND node.node_id IS NOT NULL AND node.field IS NOT NULL RETURN node
}
RETURN elementId(node) AS element, labels(node) AS labels, properties(node) AS properties
