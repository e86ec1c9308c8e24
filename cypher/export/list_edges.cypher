// The relationships that begin at some nodes of a student.
// mode: read
// scope: student
// params: institution: str, student_id: str, elements: list of str
// returns: start: str, end: str, type: str, properties: map
UNWIND $elements AS element
MATCH (from)-[edge]->(to)
WHERE elementId(from) = element AND from.institution = $institution AND from.student_id = $student_id
  AND to.institution = $institution AND to.student_id = $student_id
RETURN element AS start, elementId(to) AS end, type(edge) AS type, properties(edge) AS properties
