// Some nodes of a student by what is unique of them, without embeddings.
// mode: read, planned
// scope: student
// params: institution: str, student_id: str, ids: map
// returns: label: str, labels: list of str, properties: map
CALL () {
  EACH(hashed) UNWIND $ids.NODE_LABEL AS id MATCH (node:NODE) RETURN node, 'NODE_LABEL' AS label
}
RETURN label, labels(node) AS labels, node {.*, embedding: null, prediction: null, prediction_embedding: null} AS properties
