// End a session: its key goes, and with the student's last one the raw turns.
// The last one stays while a message waits for its reply, or where it was not `prepared` for that.
// No row, and nothing written, when this session does not run.
// mode: write
// scope: student
// params: institution: str, student_id: str, session_id: str, prepared: bool, now: datetime
// returns: closed: bool, last: bool
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it, so that no turn comes in between.
SET student.jobs_at = coalesce(student.jobs_at, student.created_at)
WITH student
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WITH student, session,
     NOT EXISTS {
       MATCH (other:OpenSession {institution: $institution, student_id: $student_id})
       WHERE other.id IS NOT NULL AND other.id <> $session_id AND other.expires_at > $now
     } AS last,
     EXISTS {
       MATCH (waiting:Turn {institution: $institution, student_id: $student_id})
       WHERE waiting.id IS NOT NULL AND waiting.state = 'received'
     } AS waits
WITH student, session, last, NOT last OR ($prepared AND NOT waits) AS closed
CALL (student, session, closed) {
  WITH * WHERE closed
  SET student.version = student.version + 1
  DETACH DELETE session
}
CALL (student, last, closed) {
  MATCH (student)-[running:EXPERIENCES]->(:Memory)
  WHERE last AND closed
  DELETE running
}
CALL (last, closed) {
  MATCH (turn:Turn {institution: $institution, student_id: $student_id})
  WHERE last AND closed AND turn.id IS NOT NULL
  DETACH DELETE turn
}
RETURN closed, last
