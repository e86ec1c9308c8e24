// The edges of the world that a student has found, and when.
// mode: read
// scope: student
// params: institution: str, student_id: str
// returns: edge_id: str, since: datetime
MATCH (:Student {institution: $institution, id: $student_id})-[:KNOWS]->(:Concept)
      -[found:DISCOVERED {institution: $institution, student_id: $student_id}]->(:Concept)
RETURN DISTINCT found.edge_id AS edge_id, found.since AS since ORDER BY edge_id
