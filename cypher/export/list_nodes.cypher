// Every node of a student that is exported, by its element id, and the student's versions. No row when the session has ended.
// mode: read
// scope: student
// params: institution: str, student_id: str, session_id: str, now: datetime
// returns: element: str, versions: list of int
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now
MATCH (student:Student {institution: $institution, id: $student_id})
CALL () {
  EACH(exported) MATCH NODES RETURN node
  UNION ALL
  MATCH (node:Job {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL AND node.state IN ['waiting', 'dead'] AND node.payload IS NOT NULL RETURN node
}
RETURN elementId(node) AS element,
       [student.version, student.memory_version, coalesce(student.overlay_version, 0), student.turns] AS versions
