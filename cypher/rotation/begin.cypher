// Lock a student whose key is replaced in this transaction: every session ends, and jobs under way are given back.
// No row, and nothing written, where the password was changed meanwhile; `begins` is false where other sessions run and are not to end.
// mode: write
// scope: student
// params: institution: str, student_id: str, session_id: str, end_sessions: bool, wrapped_key: bytes, now: datetime
// returns: begins: bool
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it, so that no session is opened meanwhile.
SET student.jobs_at = coalesce(student.jobs_at, $now)
WITH student WHERE student.wrapped_key = $wrapped_key
WITH student, $end_sessions OR NOT EXISTS {
  MATCH (other:OpenSession {institution: $institution, student_id: $student_id})
  WHERE other.id IS NOT NULL AND other.id <> $session_id AND other.expires_at > $now
} AS begins
CALL (begins) {
  MATCH (session:OpenSession {institution: $institution, student_id: $student_id})
  WHERE begins AND session.id IS NOT NULL AND session.expires_at > $now
  // The sweeper does what follows the end of a session.
  SET session.expires_at = $now
}
CALL (begins) {
  MATCH (job:Job {institution: $institution, student_id: $student_id, state: 'waiting'})
  WHERE begins AND job.lease IS NOT NULL
  REMOVE job.lease, job.lease_until
}
RETURN begins
