// Every relationship that begins at a node of a student, and those of the world that the student found.
// mode: read
// scope: student
// params: institution: str, student_id: str
// returns: type: str, from_labels: list of str, from: map, to_labels: list of str, to: map, properties: map
CALL () {
  CALL () {
    EACH(hashed) MATCH NODES RETURN node
  }
  MATCH (node)-[edge]->()
  RETURN edge
  UNION ALL
  MATCH (:Student {institution: $institution, id: $student_id})-[:KNOWS]->(:Concept)
        -[edge:DISCOVERED {institution: $institution, student_id: $student_id}]->(:Concept)
  RETURN DISTINCT edge
}
WITH edge, startNode(edge) AS from, endNode(edge) AS to
RETURN type(edge) AS type, labels(from) AS from_labels, from {.id, .key, .kind, .ref, .institution, .student_id} AS from,
       labels(to) AS to_labels, to {.id, .key, .kind, .ref, .institution, .student_id} AS to, properties(edge) AS properties
