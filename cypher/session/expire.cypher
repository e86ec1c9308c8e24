// End a session whose time is over; with the student's last one go the turns, a message without a reply stays.
// mode: write
// scope: student
// params: institution: str, student_id: str, session_id: str, now: datetime
// returns: last: bool
OPTIONAL MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it, so that a session just opened or prolonged is seen.
FOREACH (each IN CASE WHEN student IS NULL THEN [] ELSE [student] END | SET each.jobs_at = coalesce(each.jobs_at, $now))
WITH student
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
SET session.swept_at = $now
WITH student, session WHERE session.expires_at <= $now
WITH student, session,
     NOT EXISTS {
       MATCH (other:OpenSession {institution: $institution, student_id: $student_id})
       WHERE other.id IS NOT NULL AND other.id <> $session_id AND other.expires_at > $now AND other.closing IS NULL
     } AS last
CALL (last) {
  MATCH (turn:Turn {institution: $institution, student_id: $student_id})
  WHERE last AND turn.id IS NOT NULL AND turn.state <> 'received'
  DETACH DELETE turn
}
CALL (student, last) {
  MATCH (student)-[running:EXPERIENCES]->(:Memory)
  WHERE last
  DELETE running
}
DETACH DELETE session
RETURN last
