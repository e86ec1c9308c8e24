// Materialise every memory's gravity now, and delete unreliable memories that have faded to their residue.
// mode: write
// scope: student
// params: institution: str, student_id: str, now: datetime, half_life: float in days, residue: float, speeds: map, unconsolidated: float
// returns: decayed: int, deleted: int, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
SET student.decayed_at = $now
WITH student
OPTIONAL MATCH (memory:Memory {institution: $institution, student_id: $student_id})
WHERE memory.id IS NOT NULL
WITH student, memory, ($now.epochMillis - memory.last_accessed.epochMillis) / 86400000.0 AS days,
     CASE WHEN memory.flashbulb OR memory.in_ledger THEN 0.0
          ELSE $speeds[memory.reliability] * CASE WHEN memory.consolidated THEN 1.0 ELSE $unconsolidated END END AS speed
WITH student, memory, speed, $residue * memory.salience AS residue,
     memory.gravity * 0.5 ^ (CASE WHEN days > 0 THEN days ELSE 0.0 END * speed / $half_life) AS faded
SET memory.gravity_now = CASE WHEN faded > residue THEN faded ELSE residue END, memory.decayed_at = $now
WITH student, count(memory) AS decayed,
     [memory IN collect(CASE WHEN memory.reliability <> 'reliable' AND faded <= residue AND speed > 0
                             THEN memory END) | memory] AS gone
SET student.memory_version = student.memory_version + CASE WHEN gone = [] THEN 0 ELSE 1 END
SET student.memories_removed = CASE WHEN gone = [] THEN student.memories_removed ELSE student.memory_version END
WITH decayed, gone, size(gone) AS deleted, [memory IN gone | memory.id] AS ids
CALL (gone) {
  UNWIND gone AS memory
  MATCH (doubt:Uncertainty)-[:CONCERNS]->(memory)
  WHERE doubt.institution = $institution AND doubt.student_id = $student_id AND doubt.state IN ['open', 'surfaced']
  WITH DISTINCT doubt
  SET doubt.state = 'decayed', doubt.resolution_strategy = 'decayed', doubt.resolved_at = $now
  RETURN collect(doubt.id) AS doubts
}
FOREACH (memory IN gone | DETACH DELETE memory)
RETURN decayed, deleted,
       [id IN ids | {label: 'Memory', id: id, gone: true}] +
       [id IN doubts | {label: 'Uncertainty', id: id, set: ['state', 'resolution_strategy', 'resolved_at']}] AS touched
