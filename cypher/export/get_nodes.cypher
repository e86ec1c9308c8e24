// Some nodes of a student by their element ids, with their labels.
// mode: read
// scope: student
// params: institution: str, student_id: str, elements: list of str
// returns: element: str, labels: list of str, properties: map
UNWIND $elements AS element
MATCH (node)
WHERE elementId(node) = element AND node.institution = $institution AND node.student_id = $student_id
RETURN element, labels(node) AS labels, properties(node) AS properties
