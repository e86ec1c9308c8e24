// End a closing session, and with it the keys; the raw turns go too, unless another session of the student runs.
// A message without a reply stays.
// mode: write
// scope: student
// params: institution: str, student_id: str, session_id: str, now: datetime
// returns: last: bool
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it, so that a session just opened is seen.
SET student.jobs_at = coalesce(student.jobs_at, student.created_at)
WITH student
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.closing
WITH student, session,
     NOT EXISTS {
       MATCH (other:OpenSession {institution: $institution, student_id: $student_id})
       WHERE other.id IS NOT NULL AND other.expires_at > $now AND other.closing IS NULL
     } AS last
SET student.version = student.version + CASE WHEN last THEN 1 ELSE 0 END
DETACH DELETE session
WITH student, last
CALL (student, last) {
  MATCH (student)-[running:EXPERIENCES]->(:Memory)
  WHERE last
  DELETE running
}
CALL (last) {
  MATCH (turn:Turn {institution: $institution, student_id: $student_id})
  WHERE last AND turn.id IS NOT NULL AND turn.state <> 'received'
  DETACH DELETE turn
}
RETURN last
