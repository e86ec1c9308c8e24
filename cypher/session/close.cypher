// End a session, unless a message of it still waits for its reply: its key and its raw turns go.
// No row, and nothing written, when this session does not run.
// mode: write
// scope: student
// params: institution: str, student_id: str, session_id: str
// returns: closed: bool
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it, so that no turn comes in between.
SET student.jobs_at = coalesce(student.jobs_at, student.created_at)
WITH student
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WITH student, session,
     NOT EXISTS {
       MATCH (waiting:Turn {institution: $institution, student_id: $student_id})
       WHERE waiting.id IS NOT NULL AND waiting.session_id = $session_id AND waiting.state = 'received'
     } AS closed
CALL (student, session, closed) {
  WITH * WHERE closed
  SET student.version = student.version + 1
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
