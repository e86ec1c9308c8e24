// Every node of a student that the integrity hash covers, without embeddings.
// mode: read
// scope: student
// params: institution: str, student_id: str
// returns: label: str, labels: list of str, properties: map
CALL () {
  EACH(hashed) MATCH NODES RETURN node, 'NODE_LABEL' AS label
}
RETURN label, labels(node) AS labels, node {.*, embedding: null, prediction: null, prediction_embedding: null} AS properties
