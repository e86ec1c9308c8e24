// The relationships of a student.
// They are those between the student's nodes, from them to concepts, and edges of the world that the student found.
// mode: read
// scope: student
// params: institution: str, student_id: str, elements: list of str
// returns: element: str, start: str, end: str, type: str, properties: map
CALL () {
  UNWIND $elements AS element
  MATCH (from)-[edge]->(to)
  WHERE elementId(from) = element AND from.institution = $institution AND from.student_id = $student_id
    AND to.institution = $institution AND (to.student_id = $student_id OR to:Concept)
    // Sessions are left out.
    AND NOT to:OpenSession
  RETURN edge
  UNION ALL
  MATCH (:Student {institution: $institution, id: $student_id})-[:KNOWS]->(:Concept)
        -[edge:DISCOVERED {institution: $institution, student_id: $student_id}]->(:Concept)
  RETURN DISTINCT edge
}
RETURN elementId(edge) AS element, elementId(startNode(edge)) AS start, elementId(endNode(edge)) AS end, type(edge) AS type,
       properties(edge) AS properties
