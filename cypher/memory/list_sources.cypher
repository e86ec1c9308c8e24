// Where one memory came from, oldest first.
// mode: read
// scope: student
// params: institution: str, student_id: str, id: str
// returns: sources: list of [id: str, kind: str, ref: str, at: int in ms]
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: $id})-[:FORMED_FROM]->(source:Source)
WITH source ORDER BY source.at, source.id
RETURN collect([source.id, source.kind, source.ref, source.at.epochMillis]) AS sources
