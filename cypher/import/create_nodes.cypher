// Create some nodes of a student who is being imported.
// mode: write
// scope: student
// params: institution: str, student_id: str, nodes: list
// returns: number: int, element: str
UNWIND $nodes AS each
CREATE (node:$(each.labels) {institution: $institution, student_id: $student_id})
SET node += each.properties
RETURN each.number AS number, elementId(node) AS element
