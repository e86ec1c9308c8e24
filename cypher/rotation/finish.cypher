// Let a student's next key take the place of the one before, unless the password or the rotation is another by now.
// mode: write
// scope: student
// params: institution: str, student_id: str, wrapped_key: bytes, next_key: bytes, lock: map
// returns: finished: bool, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
WHERE student.wrapped_key = $wrapped_key AND student.next_key = $next_key
SET student += $lock, student.version = student.version + 1,
    student.memory_version = student.memory_version + 1
REMOVE student.next_key
RETURN true AS finished,
       [{label: 'Student', id: 'student', set: keys($lock)}] AS touched
