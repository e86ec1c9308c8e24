// How the memories of a student stand that were used since a moment.
// mode: read
// scope: student
// params: institution: str, student_id: str, since: datetime
// returns: memories: list of [id: str, gravity: float, last_accessed: int in ms, access_count: int]
MATCH (memory:Memory {institution: $institution, student_id: $student_id})
WHERE memory.id IS NOT NULL AND memory.last_accessed >= $since
RETURN collect([memory.id, memory.gravity, memory.last_accessed.epochMillis, memory.access_count]) AS memories
