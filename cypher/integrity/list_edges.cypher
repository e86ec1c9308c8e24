// Relationships of some types of some nodes of a student.
// mode: read, planned
// scope: student
// params: institution: str, student_id: str, places: map, sources: list, companion: bool, concepts: list of str, discovered: list of str
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
    UNWIND $sources AS place
    MATCH (node:Source {institution: $institution, student_id: $student_id, kind: place[0], ref: place[1]})
    RETURN node, place[2] AS kind
    UNION ALL
    MATCH (node:Companion {institution: $institution, student_id: $student_id}) WHERE $companion
    RETURN node, 'ACCOMPANIES' AS kind
  }
  MATCH (node)-[edge]-() WHERE type(edge) = kind
  RETURN edge
  UNION ALL
  UNWIND $concepts AS id
  MATCH (:Student {institution: $institution, id: $student_id})-[edge:KNOWS]->(:Concept {institution: $institution, id: id})
  RETURN edge
  UNION ALL
  MATCH (:Student {institution: $institution, id: $student_id})-[:KNOWS]->(:Concept)
        -[edge:DISCOVERED {institution: $institution, student_id: $student_id}]->(:Concept)
  WHERE edge.edge_id IN $discovered
  RETURN edge
}
WITH DISTINCT edge
WITH edge, startNode(edge) AS from, endNode(edge) AS to
RETURN type(edge) AS type, labels(from) AS from_labels, from {.id, .key, .kind, .ref, .institution, .student_id} AS from,
       labels(to) AS to_labels, to {.id, .key, .kind, .ref, .institution, .student_id} AS to, properties(edge) AS properties
