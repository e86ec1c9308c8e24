// Sources of some memories of a student, oldest first.
// mode: read
// scope: student
// params: institution: str, student_id: str, ids: list
// returns: sources: list of [memory_id: str, id: str, kind: str, ref: str, at: int in ms]
UNWIND $ids AS id
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: id})
USING INDEX memory:Memory(institution, student_id, id)
MATCH (memory)-[:FORMED_FROM]->(source:Source)
WITH memory, source ORDER BY source.at, source.id
RETURN collect([memory.id, source.id, source.kind, source.ref, source.at.epochMillis]) AS sources
