// Every node of a student that the integrity hash covers, without embeddings.
// mode: read
// scope: student
// params: institution: str, student_id: str
// returns: label: str, id: str, labels: list of str, properties: map
CALL () {
  MATCH (node:Student {institution: $institution, id: $student_id}) RETURN node, 'Student' AS label, 'student' AS id
  UNION ALL
  MATCH (node:Companion {institution: $institution, student_id: $student_id}) RETURN node, 'Companion' AS label, 'companion' AS id
  UNION ALL
  MATCH (node:Memory {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node, 'Memory' AS label, node.id AS id
  UNION ALL
  MATCH (node:Fact {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node, 'Fact' AS label, node.id AS id
  UNION ALL
  MATCH (node:LedgerEntry {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node, 'LedgerEntry' AS label, node.id AS id
  UNION ALL
  MATCH (node:Uncertainty {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node, 'Uncertainty' AS label, node.id AS id
  UNION ALL
  MATCH (node:Concern {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node, 'Concern' AS label, node.id AS id
  UNION ALL
  MATCH (node:Question {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node, 'Question' AS label, node.id AS id
  UNION ALL
  MATCH (node:Reflection {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node, 'Reflection' AS label, node.id AS id
  UNION ALL
  MATCH (node:Compression {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node, 'Compression' AS label, node.id AS id
  UNION ALL
  MATCH (node:Entity {institution: $institution, student_id: $student_id})
  WHERE node.key IS NOT NULL RETURN node, 'Entity' AS label, node.key AS id
  UNION ALL
  MATCH (node:Source {institution: $institution, student_id: $student_id})
  WHERE node.kind IS NOT NULL AND node.ref IS NOT NULL RETURN node, 'Source' AS label, node.kind + ':' + node.ref AS id
}
RETURN label, id, labels(node) AS labels, node {.*, embedding: null, prediction: null, prediction_embedding: null} AS properties
