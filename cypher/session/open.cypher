// Open a session of its own beside those that run; its keys lie here sealed with the server secret.
// With the first one a conversation begins: what was left unanswered is its, the rest of the turns before goes.
// No row, and nothing written, where the student's key was replaced meanwhile, and with it the public key.
// mode: write, planned
// scope: student
// params: institution: str, student_id: str, session_id: str, public_key: bytes, token: bytes, expires_at: datetime, ends_at: datetime, others: int, now: datetime
// returns: session_id: str
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it, so that of two openings at once one is the first.
SET student.jobs_at = coalesce(student.jobs_at, $now)
WITH student WHERE student.public_key = $public_key
WITH student,
     EXISTS {
       MATCH (running:OpenSession {institution: $institution, student_id: $student_id})
       WHERE running.id IS NOT NULL AND running.expires_at > $now AND running.closing IS NULL
     } AS joins
MERGE (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
ON CREATE SET session.token = $token, session.opened_at = $now, session.expires_at = $expires_at,
              session.ends_at = $ends_at
MERGE (student)-[:OPENED]->(session)
WITH student, session, joins
// A counted version tells every replica that what it holds is of another conversation.
SET student.version = student.version + CASE WHEN joins THEN 0 ELSE 1 END
WITH student, session, joins
// An episode of a conversation that ran out is over.
CALL (student, joins) {
  MATCH (student)-[running:EXPERIENCES]->(:Memory)
  WHERE NOT joins
  DELETE running
}
CALL (joins) {
  MATCH (turn:Turn {institution: $institution, student_id: $student_id})
  WHERE NOT joins AND turn.id IS NOT NULL AND turn.state <> 'received'
  DETACH DELETE turn
}
// Of too many the one not used for longest gives way.
CALL (session) {
  MATCH (other:OpenSession {institution: $institution, student_id: $student_id})
  WHERE other.id IS NOT NULL AND other <> session AND other.closing IS NULL
  WITH other ORDER BY other.expires_at DESC, other.id SKIP $others
  DETACH DELETE other
}
RETURN session.id AS session_id
