// Replace a student's wrapped key, unless another change of password came first; the sessions end, if wanted, but one.
// mode: write
// scope: student
// params: institution: str, student_id: str, old_wrapped_key: bytes, lock: map, ends: map or null
// returns: changed: bool, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
// Counting the version up locks the student, so that the key compared below is the newest.
SET student.version = student.version + 1
WITH student
WHERE student.wrapped_key = $old_wrapped_key OR student.wrapped_key = $lock.wrapped_key
SET student += $lock
WITH student
CALL () {
  MATCH (session:OpenSession {institution: $institution, student_id: $student_id})
  WHERE $ends IS NOT NULL AND session.id IS NOT NULL AND session.id <> $ends.but AND session.expires_at > $ends.now
  // The sweeper does what follows the end of a session.
  SET session.expires_at = $ends.now
}
RETURN true AS changed,
       [{label: 'Student', id: 'student', set: ['salt', 'argon2_ops', 'argon2_memory', 'wrapped_key', 'recovery_copy']}] AS touched
