// Memories, said until some moment, that were not considered for consolidation yet, oldest first, and when the student spoke around them; numbers only, so that no key is needed.
// mode: read
// scope: student
// params: institution: str, student_id: str, until: datetime or null, limit: int, seconds_before: float, seconds_after: float
// returns: thoughts: list of [id: str, at: int in ms, surprise: float, activity: float, features: list of float, strength: float, salience: float, importance: float], said: list of int in ms
MATCH (memory:Memory {institution: $institution, student_id: $student_id, considered: false})
WHERE $until IS NULL OR memory.timestamp <= $until
WITH memory ORDER BY memory.timestamp, memory.id LIMIT $limit
WITH collect([memory.id, memory.timestamp.epochMillis, memory.surprise, memory.activity,
              memory.features, memory.strength, memory.salience, memory.importance]) AS thoughts,
     min(memory.timestamp) - duration({seconds: $seconds_before}) AS first,
     max(memory.timestamp) + duration({seconds: $seconds_after}) AS last
RETURN thoughts, COLLECT { MATCH (turn:Turn {institution: $institution, student_id: $student_id})
                           WHERE turn.id IS NOT NULL AND first <= turn.at <= last
                           RETURN turn.at.epochMillis } AS said
