// End a session whose time is over; a message without a reply stays for the next session.
// mode: write
// scope: student
// params: institution: str, student_id: str, session_id: str, now: datetime
// returns: session_id: str
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
// Writing to it locks the session, so that one just prolonged is seen as such.
SET session.swept_at = $now
WITH session WHERE session.expires_at <= $now
WITH session, session.id AS session_id
CALL (session_id) {
  MATCH (turn:Turn {institution: $institution, student_id: $student_id})
  WHERE turn.id IS NOT NULL AND turn.session_id = session_id AND turn.state = 'answered'
  DETACH DELETE turn
}
CALL () {
  MATCH (:Student {institution: $institution, id: $student_id})-[running:EXPERIENCES]->(:Memory)
  DELETE running
}
DETACH DELETE session
RETURN session_id
