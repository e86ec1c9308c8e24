// A page of a student's memories, newest first, with the gravity each has now; content stays sealed.
// mode: read
// scope: student
// params: institution: str, student_id: str, label: str, kind: str, reliability: str, min_gravity: float, as_of: datetime, now: datetime, before_time: datetime, before_id: str, limit: int
// returns: total: int, memories: list of [memory: map, label: str, refs: list of str]
MATCH (memory:Memory {institution: $institution, student_id: $student_id})
WHERE memory.id IS NOT NULL AND ($label IS NULL OR $label IN labels(memory))
  AND ($kind IS NULL OR memory.kind = $kind)
  AND ($reliability IS NULL OR memory.reliability = $reliability)
  AND ($as_of IS NULL OR (coalesce(memory.valid_at, memory.timestamp) <= $as_of
                          AND coalesce(memory.invalid_at > $as_of, true)))
WITH memory,
     CASE WHEN memory.flashbulb OR memory.in_ledger THEN 0.0
          ELSE CASE memory.reliability WHEN 'reliable' THEN 1.0 WHEN 'uncertain' THEN 1.5
                                       WHEN 'contradicted' THEN 2.0 ELSE 3.0 END END AS speed,
     (($now.epochMillis - memory.last_accessed.epochMillis) / 86400000.0) AS days
WITH memory, memory.gravity * 0.5 ^ (CASE WHEN days > 0 THEN days ELSE 0.0 END * speed / 7.0) AS faded
WITH memory, CASE WHEN faded > 0.1 * memory.salience THEN faded ELSE 0.1 * memory.salience END AS gravity
WHERE gravity >= $min_gravity
WITH memory ORDER BY memory.timestamp DESC, memory.id
WITH collect(memory) AS fitting
CALL (fitting) {
  UNWIND fitting AS memory
  WITH memory
  WHERE $before_time IS NULL OR memory.timestamp < $before_time
     OR (memory.timestamp = $before_time AND memory.id > $before_id)
  WITH memory LIMIT $limit
  RETURN collect([
    memory {.*, timestamp: memory.timestamp.epochMillis, last_accessed: memory.last_accessed.epochMillis,
            last_reinforced_at: memory.last_reinforced_at.epochMillis, valid_at: memory.valid_at.epochMillis,
            invalid_at: memory.invalid_at.epochMillis},
    [label IN labels(memory) WHERE label <> 'Memory'][0],
    [(memory)-[:FORMED_FROM]->(source:Source) | source.ref]
  ]) AS memories
}
RETURN size(fitting) AS total, memories
