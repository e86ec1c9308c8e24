// Begin a drift cycle: how many there were with it, and the version of the memories. No row where the last one was after `before`.
// mode: write
// scope: student
// params: institution: str, student_id: str, before: datetime, now: datetime
// returns: cycle: int, version: int
MATCH (student:Student {institution: $institution, id: $student_id})
SET student.jobs_at = $now
WITH student
WHERE $before IS NULL OR student.reconciled_at IS NULL OR student.reconciled_at <= $before
SET student.reconciled_at = $now, student.reconciled_cycles = coalesce(student.reconciled_cycles, 0) + 1
RETURN student.reconciled_cycles AS cycle, student.memory_version AS version
