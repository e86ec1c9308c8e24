// Some nodes of a student by what is unique of them, without embeddings.
// mode: read, planned
// scope: student
// params: institution: str, student_id: str, ids: map
// returns: label: str, id: str, labels: list of str, properties: map
CALL () {
  UNWIND $ids.Student AS id
  MATCH (node:Student {institution: $institution, id: $student_id})
  RETURN node, 'Student' AS label, id
  UNION ALL
  UNWIND $ids.Companion AS id
  MATCH (node:Companion {institution: $institution, student_id: $student_id})
  RETURN node, 'Companion' AS label, id
  UNION ALL
  UNWIND $ids.Memory AS id
  MATCH (node:Memory {institution: $institution, student_id: $student_id, id: id})
  RETURN node, 'Memory' AS label, id
  UNION ALL
  UNWIND $ids.Fact AS id
  MATCH (node:Fact {institution: $institution, student_id: $student_id, id: id})
  RETURN node, 'Fact' AS label, id
  UNION ALL
  UNWIND $ids.LedgerEntry AS id
  MATCH (node:LedgerEntry {institution: $institution, student_id: $student_id, id: id})
  RETURN node, 'LedgerEntry' AS label, id
  UNION ALL
  UNWIND $ids.Uncertainty AS id
  MATCH (node:Uncertainty {institution: $institution, student_id: $student_id, id: id})
  RETURN node, 'Uncertainty' AS label, id
  UNION ALL
  UNWIND $ids.Concern AS id
  MATCH (node:Concern {institution: $institution, student_id: $student_id, id: id})
  RETURN node, 'Concern' AS label, id
  UNION ALL
  UNWIND $ids.Question AS id
  MATCH (node:Question {institution: $institution, student_id: $student_id, id: id})
  RETURN node, 'Question' AS label, id
  UNION ALL
  UNWIND $ids.Reflection AS id
  MATCH (node:Reflection {institution: $institution, student_id: $student_id, id: id})
  RETURN node, 'Reflection' AS label, id
  UNION ALL
  UNWIND $ids.Compression AS id
  MATCH (node:Compression {institution: $institution, student_id: $student_id, id: id})
  RETURN node, 'Compression' AS label, id
  UNION ALL
  UNWIND $ids.Entity AS id
  MATCH (node:Entity {institution: $institution, student_id: $student_id, key: id})
  RETURN node, 'Entity' AS label, id
  UNION ALL
  UNWIND $ids.Source AS id
  WITH id, split(id, ':')[0] AS kind
  MATCH (node:Source {institution: $institution, student_id: $student_id, kind: kind, ref: substring(id, size(kind) + 1)})
  RETURN node, 'Source' AS label, id
}
RETURN label, id, labels(node) AS labels, node {.*, embedding: null, prediction: null, prediction_embedding: null} AS properties
