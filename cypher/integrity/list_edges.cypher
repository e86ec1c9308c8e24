// Relationships of some types of some nodes of a student.
// mode: read, planned
// scope: student
// params: institution: str, student_id: str, places: map
// returns: type: str, from_labels: list of str, from: map, to_labels: list of str, to: map, properties: map
CALL () {
  // The relationships are followed in one place: a plan of each label's own takes long to make.
  CALL () {
    UNWIND $places.Memory AS place
    MATCH (node:Memory {institution: $institution, student_id: $student_id, id: place[0]})
    RETURN node, place[1] AS kind
    UNION ALL
    UNWIND $places.Fact AS place
    MATCH (node:Fact {institution: $institution, student_id: $student_id, id: place[0]})
    RETURN node, place[1] AS kind
    UNION ALL
    UNWIND $places.LedgerEntry AS place
    MATCH (node:LedgerEntry {institution: $institution, student_id: $student_id, id: place[0]})
    RETURN node, place[1] AS kind
    UNION ALL
    UNWIND $places.Uncertainty AS place
    MATCH (node:Uncertainty {institution: $institution, student_id: $student_id, id: place[0]})
    RETURN node, place[1] AS kind
    UNION ALL
    UNWIND $places.Concern AS place
    MATCH (node:Concern {institution: $institution, student_id: $student_id, id: place[0]})
    RETURN node, place[1] AS kind
    UNION ALL
    UNWIND $places.Question AS place
    MATCH (node:Question {institution: $institution, student_id: $student_id, id: place[0]})
    RETURN node, place[1] AS kind
    UNION ALL
    UNWIND $places.Reflection AS place
    MATCH (node:Reflection {institution: $institution, student_id: $student_id, id: place[0]})
    RETURN node, place[1] AS kind
    UNION ALL
    UNWIND $places.Compression AS place
    MATCH (node:Compression {institution: $institution, student_id: $student_id, id: place[0]})
    RETURN node, place[1] AS kind
    UNION ALL
    UNWIND $places.Source AS place
    WITH place, split(place[0], ':')[0] AS of_kind
    MATCH (node:Source {institution: $institution, student_id: $student_id, kind: of_kind, ref: substring(place[0], size(of_kind) + 1)})
    RETURN node, place[1] AS kind
    UNION ALL
    UNWIND $places.Companion AS place
    MATCH (node:Companion {institution: $institution, student_id: $student_id})
    RETURN node, place[1] AS kind
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
