// A student's memories by their gravity at a moment, highest first, by the forgetting curve.
// mode: read
// scope: student
// params: institution: str, student_id: str, now: datetime, limit: int, half_life: float, residue: float, speeds: map, unconsolidated: float
// returns: id: str, modality: str, kind: str, gravity: float, salience: float, last_accessed: datetime
MATCH (memory:Memory {institution: $institution, student_id: $student_id}) WHERE memory.id IS NOT NULL
WITH memory, ($now.epochMillis - memory.last_accessed.epochMillis) / 86400000.0 AS days,
     CASE WHEN memory.flashbulb OR memory.in_ledger THEN 0.0
          ELSE $speeds[memory.reliability] * CASE WHEN memory.consolidated THEN 1.0 ELSE $unconsolidated END END AS speed
WITH memory, memory.gravity * 0.5 ^ (CASE WHEN days > 0 THEN days ELSE 0.0 END * speed / $half_life) AS faded
RETURN memory.id AS id, [label IN labels(memory) WHERE label <> 'Memory'][0] AS modality, memory.kind AS kind,
       CASE WHEN faded > $residue * memory.salience THEN faded ELSE $residue * memory.salience END AS gravity,
       memory.salience AS salience, memory.last_accessed AS last_accessed
ORDER BY gravity DESC, id
LIMIT $limit
