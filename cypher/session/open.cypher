// Open a session, or prolong the running one; its keys lie here sealed with the server secret.
// What a session that ran out left unanswered goes over to the new one, the rest of its turns goes.
// mode: write
// scope: student
// params: institution: str, student_id: str, session_id: str, token: bytes, expires_at: datetime, now: datetime
// returns: session_id: str
MATCH (student:Student {institution: $institution, id: $student_id})
MERGE (session:OpenSession {institution: $institution, student_id: $student_id})
ON CREATE SET session.id = $session_id, session.expires_at = $expires_at, session.opened_at = $now
SET session.opened_at = CASE WHEN session.expires_at > $now THEN session.opened_at ELSE $now END,
    session.id = CASE WHEN session.expires_at > $now THEN session.id ELSE $session_id END
SET session.token = CASE WHEN session.id = $session_id THEN $token ELSE session.token END,
    session.expires_at = CASE WHEN session.id = $session_id THEN $expires_at ELSE session.expires_at END
MERGE (student)-[:OPENED]->(session)
WITH student, session
// An episode of a session that ran out is over.
CALL (student, session) {
  MATCH (student)-[running:EXPERIENCES]->(:Memory)
  WHERE session.id = $session_id
  DELETE running
}
CALL (session) {
  MATCH (turn:Turn {institution: $institution, student_id: $student_id})
  WHERE turn.id IS NOT NULL AND turn.session_id <> session.id AND turn.state = 'received'
  SET turn.session_id = session.id
}
CALL (session) {
  MATCH (turn:Turn {institution: $institution, student_id: $student_id})
  WHERE turn.id IS NOT NULL AND turn.session_id <> session.id AND turn.state = 'answered'
  DETACH DELETE turn
}
RETURN session.id AS session_id
