// Every node of a student, who is locked until the transaction ends, so that all of it is of one moment.
// Left out are sessions, password tries and reservations, which end with the server.
// mode: write
// scope: student
// params: institution: str, student_id: str
// returns: element: str, labels: list of str, properties: map
MATCH (student:Student {institution: $institution, id: $student_id})
// Every write of a student's graph writes the student first, and so waits.
SET student.jobs_at = student.jobs_at
WITH student
CALL () {
  EACH(kept) MATCH NODES RETURN node
}
RETURN elementId(node) AS element, labels(node) AS labels, properties(node) AS properties
