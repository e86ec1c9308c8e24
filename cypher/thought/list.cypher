// Memories, said until some moment, that were not considered for consolidation yet, oldest first; numbers only, so that no key is needed.
// mode: read
// scope: student
// params: institution: str, student_id: str, until: datetime or null, limit: int
// returns: thoughts: list of [id: str, at: int in ms, snr: int, surprise: float, activity: float, features: list of float, strength: float, salience: float, importance: float], ended: int in ms or null
MATCH (memory:Memory {institution: $institution, student_id: $student_id, considered: false})
WHERE $until IS NULL OR memory.timestamp <= $until
WITH memory ORDER BY memory.timestamp, memory.id
WITH collect([memory.id, memory.timestamp.epochMillis, memory.snr, memory.surprise, memory.activity,
              memory.features, memory.strength, memory.salience, memory.importance]) AS thoughts, max(memory.timestamp) AS last
RETURN thoughts[..$limit] AS thoughts, last.epochMillis AS ended
