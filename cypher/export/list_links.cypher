// The relationships that lead from some nodes of a student, but the student's own, to concepts of the world.
// mode: read
// scope: student
// params: institution: str, student_id: str, elements: list of str
// returns: start: str, concept: str, type: str, properties: map
UNWIND $elements AS element
MATCH (from)-[link:ABOUT|PRACTISED]->(concept:Concept)
WHERE elementId(from) = element AND from.institution = $institution AND from.student_id = $student_id
  AND concept.institution = $institution
RETURN element AS start, concept.id AS concept, type(link) AS type, properties(link) AS properties
