// A page of a student's memories that were written after a version, by id, for whoever holds them in memory.
// mode: read
// scope: student
// params: institution: str, student_id: str, since: int, after: str, limit: int
// returns: memories: list of [memory: map, label: str, refs: list of str]
MATCH (memory:Memory {institution: $institution, student_id: $student_id})
WHERE memory.written > $since AND memory.id > $after
WITH memory ORDER BY memory.id LIMIT $limit
// One row for all: a record of its own for each would take the driver ten times as long.
RETURN collect([
  memory {.*, timestamp: memory.timestamp.epochMillis, last_accessed: memory.last_accessed.epochMillis,
          last_reinforced_at: memory.last_reinforced_at.epochMillis, valid_at: memory.valid_at.epochMillis,
          invalid_at: memory.invalid_at.epochMillis},
  [label IN labels(memory) WHERE label <> 'Memory'][0],
  [(memory)-[:FORMED_FROM]->(source:Source) | source.ref]
]) AS memories
