// Some memories of a student by their ids.
// mode: read, planned
// scope: student
// params: institution: str, student_id: str, ids: list
// returns: memories: list of [memory: map, label: str, refs: list of str]
UNWIND $ids AS id
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: id})
USING INDEX memory:Memory(institution, student_id, id)
RETURN collect([
  memory {.*, timestamp: memory.timestamp.epochMillis, last_accessed: memory.last_accessed.epochMillis,
          last_reinforced_at: memory.last_reinforced_at.epochMillis, valid_at: memory.valid_at.epochMillis,
          invalid_at: memory.invalid_at.epochMillis},
  [label IN labels(memory) WHERE label <> 'Memory'][0],
  [(memory)-[:FORMED_FROM]->(source:Source) | source.ref]
]) AS memories
