// Link memories to the entities that they mention; an entity is created where it is not known.
// mode: write
// scope: student
// params: institution: str, student_id: str, mentions: list
// returns: mentions: int, touched: list of map
UNWIND $mentions AS mention
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: mention.memory_id})
USING INDEX memory:Memory(institution, student_id, id)
MERGE (entity:Entity {institution: $institution, student_id: $student_id, key: mention.key})
ON CREATE SET entity += mention.entity
MERGE (memory)-[relation:$(mention.type)]->(entity)
ON CREATE SET relation += mention.properties
RETURN count(relation) AS mentions,
       collect(DISTINCT {label: 'Entity', id: entity.key, made: true}) +
       collect(DISTINCT {label: 'Memory', id: memory.id, links: [mention.type]}) AS touched
