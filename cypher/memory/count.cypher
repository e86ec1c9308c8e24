// Number of a student's memories whose gravity now is high enough.
// mode: read
// scope: student
// params: institution: str, student_id: str, label: str, kind: str, reliability: str, min_gravity: float, as_of: datetime, now: datetime, half_life: float in days, residue: float, speeds: map, unconsolidated: float
// returns: total: int
MATCH (memory:Memory {institution: $institution, student_id: $student_id})
WHERE memory.id IS NOT NULL AND ($label IS NULL OR $label IN labels(memory))
  AND ($kind IS NULL OR memory.kind = $kind)
  AND ($reliability IS NULL OR memory.reliability = $reliability)
  AND ($as_of IS NULL OR (coalesce(memory.valid_at, memory.timestamp) <= $as_of
                          AND coalesce(memory.invalid_at > $as_of, true)))
WITH memory, ($now.epochMillis - memory.last_accessed.epochMillis) / 86400000.0 AS days,
     CASE WHEN memory.flashbulb OR memory.in_ledger THEN 0.0
          ELSE $speeds[memory.reliability] * CASE WHEN memory.consolidated THEN 1.0 ELSE $unconsolidated END END AS speed
WITH memory, memory.gravity * 0.5 ^ (CASE WHEN days > 0 THEN days ELSE 0.0 END * speed / $half_life) AS faded
WHERE faded >= $min_gravity OR $residue * memory.salience >= $min_gravity
RETURN count(memory) AS total
