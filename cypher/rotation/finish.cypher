// Let a student's key after a rotation take the place of the one before.
// mode: write
// scope: student
// params: institution: str, student_id: str, lock: map
// returns: finished: bool, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
// A counted version tells every replica that what it holds is stale.
SET student += $lock, student.version = student.version + 1,
    student.memory_version = student.memory_version + 1
RETURN true AS finished,
       [{label: 'Student', id: 'student', set: keys($lock)}] AS touched
