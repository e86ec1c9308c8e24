// Element ids of all nodes that are no student's, but of what is made anew where a backup is restored.
// mode: read
// scope: service
// params:
// returns: element: str
MATCH (node) WHERE node.student_id IS NULL AND NOT node:Schema AND NOT node:Probe AND NOT node:Student
RETURN elementId(node) AS element
