// Consolidate memories or leave them tentative; those considered before stay as they are.
// mode: write
// scope: student
// params: institution: str, student_id: str, verdicts: list, now: datetime
// returns: considered: int, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
// Counting the version up locks the student, and tells every replica that what it holds is stale.
SET student.memory_version = student.memory_version + 1
WITH student
UNWIND $verdicts AS verdict
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: verdict.id})
USING INDEX memory:Memory(institution, student_id, id)
WHERE memory.considered = false
SET memory.considered = true, memory.considered_at = $now, memory += verdict, memory.written = student.memory_version,
    memory.gravity = CASE WHEN verdict.consolidated THEN 1.0 ELSE memory.gravity END
RETURN count(memory) AS considered,
       collect(DISTINCT {label: 'Memory', id: memory.id, set: ['considered', 'considered_at'] + keys(verdict)
                         + CASE WHEN verdict.consolidated THEN ['gravity'] ELSE [] END}) AS touched
