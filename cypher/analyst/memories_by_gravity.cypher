// Which memories of a student are most present at a moment, by the forgetting curve: half after a week, never below a tenth of the salience.
// mode: read
// scope: student
// params: institution: str, student_id: str, now: datetime, limit: int
// returns: id: str, modality: str, kind: str, gravity: float, salience: float, last_accessed: datetime
MATCH (memory:Memory {institution: $institution, student_id: $student_id})
WITH memory,
     CASE WHEN memory.flashbulb OR memory.in_ledger THEN 0.0
          ELSE CASE memory.reliability WHEN 'reliable' THEN 1.0 WHEN 'uncertain' THEN 1.5
                                       WHEN 'contradicted' THEN 2.0 ELSE 3.0 END END AS speed,
     ($now.epochMillis - memory.last_accessed.epochMillis) / 86400000.0 AS days
WITH memory, memory.gravity * 0.5 ^ (CASE WHEN days > 0 THEN days ELSE 0.0 END * speed / 7.0) AS faded
RETURN memory.id AS id, [label IN labels(memory) WHERE label <> 'Memory'][0] AS modality, memory.kind AS kind,
       CASE WHEN faded > 0.1 * memory.salience THEN faded ELSE 0.1 * memory.salience END AS gravity,
       memory.salience AS salience, memory.last_accessed AS last_accessed
ORDER BY gravity DESC, id
LIMIT $limit
