// Entities that some memories of a student speak of, with their sealed names.
// mode: read
// scope: student
// params: institution: str, student_id: str, ids: list
// returns: entities: list of [memory_id: str, id: str, kind: str, name: bytes]
UNWIND $ids AS id
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: id})
USING INDEX memory:Memory(institution, student_id, id)
MATCH (memory)-[:INVOLVES|ABOUT|LOCATED_AT]->(entity:Entity)
WITH memory, entity ORDER BY entity.kind, entity.id
RETURN collect([memory.id, entity.id, entity.kind, entity.name]) AS entities
