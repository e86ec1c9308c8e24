// Set sealed values of some nodes of a student.
// mode: write
// scope: student
// params: institution: str, student_id: str, nodes: list
// returns: saved: int, touched: list of map
UNWIND $nodes AS sealed
MATCH (node)
WHERE elementId(node) = sealed.element AND node.institution = $institution AND node.student_id = $student_id
SET node += sealed.properties
RETURN count(*) AS saved,
       collect(DISTINCT {label: sealed.label, id: sealed.id, set: keys(sealed.properties)}) AS touched
