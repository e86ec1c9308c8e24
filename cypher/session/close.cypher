// End a session, unless a message of it still waits for its reply: its key and its raw turns go.
// mode: write
// scope: student
// params: institution: str, student_id: str, session_id: str
// returns: closed: bool
MATCH (student:Student {institution: $institution, id: $student_id})
SET student.version = student.version + 1
WITH student,
     NOT EXISTS {
       MATCH (waiting:Turn {institution: $institution, student_id: $student_id})
       WHERE waiting.id IS NOT NULL AND waiting.session_id = $session_id AND waiting.state = 'received'
     } AS closed
CALL (closed) {
  MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
  WHERE closed
  DETACH DELETE session
}
CALL (student, closed) {
  MATCH (student)-[running:EXPERIENCES]->(:Memory)
  WHERE closed
  DELETE running
}
CALL (closed) {
  MATCH (turn:Turn {institution: $institution, student_id: $student_id})
  WHERE closed AND turn.id IS NOT NULL AND turn.session_id = $session_id
  DETACH DELETE turn
}
RETURN closed
