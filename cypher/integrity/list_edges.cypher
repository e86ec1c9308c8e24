// Relationships of some types of some nodes of a student.
// mode: read, planned
// scope: student
// params: institution: str, student_id: str, places: map
// returns: type: str, from_labels: list of str, from: map, to_labels: list of str, to: map, properties: map
CALL () {
  // The relationships are followed in one place: a plan of each label's own takes long to make.
  CALL () {
    EACH(hashed) UNWIND $places.NODE_LABEL AS place WITH place[0] AS id, place[1] AS kind MATCH (node:NODE) RETURN node, kind
  }
  MATCH (node)-[edge]-() WHERE type(edge) = kind
  RETURN edge
  UNION ALL
  UNWIND $places.Concept AS place
  MATCH (:Student {institution: $institution, id: $student_id})-[edge:KNOWS]->(:Concept {institution: $institution, id: place[0]})
  RETURN edge
  UNION ALL
  MATCH (:Student {institution: $institution, id: $student_id})-[:KNOWS]->(:Concept)
        -[edge:DISCOVERED {institution: $institution, student_id: $student_id}]->(:Concept)
  WHERE edge.edge_id IN [place IN $places.Discovered | place[0]]
  RETURN edge
}
WITH DISTINCT edge
WITH edge, startNode(edge) AS from, endNode(edge) AS to
RETURN type(edge) AS type, labels(from) AS from_labels, from {.id, .key, .kind, .ref, .institution, .student_id} AS from,
       labels(to) AS to_labels, to {.id, .key, .kind, .ref, .institution, .student_id} AS to, properties(edge) AS properties
