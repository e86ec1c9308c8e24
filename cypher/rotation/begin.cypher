// Begin to rotate a student's key, or go on with it: every session ends, and jobs under way are given back.
// No row, and nothing written, where the password was changed meanwhile; `next_key` null where other sessions run and are not to end.
// mode: write
// scope: student
// params: institution: str, student_id: str, session_id: str, end_sessions: bool, wrapped_key: bytes, next_key: bytes, now: datetime
// returns: next_key: bytes
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it, so that no session is opened meanwhile.
SET student.jobs_at = coalesce(student.jobs_at, $now)
WITH student WHERE student.wrapped_key = $wrapped_key
WITH student, $end_sessions OR student.next_key IS NOT NULL OR NOT EXISTS {
  MATCH (other:OpenSession {institution: $institution, student_id: $student_id})
  WHERE other.id IS NOT NULL AND other.id <> $session_id AND other.expires_at > $now
} AS begins
CALL (student, begins) {
  WITH * WHERE begins
  // A counted version tells every replica that what it holds is stale.
  SET student.next_key = coalesce(student.next_key, $next_key), student.version = student.version + 1,
      student.memory_version = student.memory_version + 1
}
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
RETURN CASE WHEN begins THEN student.next_key END AS next_key
