// Create some nodes of a student who is being imported.
// No row, and nothing written, where this step was done before, or somebody else erases or imports the student by now.
// mode: write
// scope: student
// params: institution: str, student_id: str, token: str, step: int, nodes: list, now: datetime
// returns: number: int, element: str
MATCH (erasure:Erasure {institution: $institution, student_id: $student_id})
WHERE erasure.token = $token
SET erasure.at = $now
WITH erasure WHERE erasure.step = $step - 1
SET erasure.step = $step
WITH erasure
UNWIND $nodes AS each
CREATE (node:$(each.labels) {institution: $institution, student_id: $student_id})
SET node += each.properties
RETURN each.number AS number, elementId(node) AS element
