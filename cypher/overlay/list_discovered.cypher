// Edges of the world that a student found.
// mode: read
// scope: student
// params: institution: str, student_id: str
// returns: edge_id: str
MATCH (:Student {institution: $institution, id: $student_id})-[:KNOWS]->(:Concept)
      -[found:DISCOVERED {institution: $institution, student_id: $student_id}]->(:Concept)
RETURN found.edge_id AS edge_id ORDER BY edge_id
