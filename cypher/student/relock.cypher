// Replace a student's wrapped key, unless another change of password came first.
// mode: write
// scope: student
// params: institution: str, student_id: str, old_wrapped_key: bytes, lock: map
// returns: changed: bool
MATCH (student:Student {institution: $institution, id: $student_id})
// Counting the version up locks the student, so that the key compared below is the newest.
SET student.version = student.version + 1
WITH student
WHERE student.wrapped_key = $old_wrapped_key OR student.wrapped_key = $lock.wrapped_key
SET student += $lock
RETURN true AS changed
