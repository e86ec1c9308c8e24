// Pairs of relationships of some memories that cannot both be so: one after the other both ways, or for and against.
// mode: read
// scope: student
// params: institution: str, student_id: str, ids: list, limit: int
// returns: one: [type: str, from_id: str, to_id: str, weight: float, created_at: int in ms], other: [type: str, from_id: str, to_id: str, weight: float, created_at: int in ms]
UNWIND $ids AS id
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: id})
USING INDEX memory:Memory(institution, student_id, id)
MATCH (memory)-[one:PRECEDES|CAUSES|ENABLES|SUPPORTS]->(near:Memory)-[other:PRECEDES|CAUSES|ENABLES|CONTRADICTS]-(memory)
WHERE one.settled IS NULL AND other.settled IS NULL AND near.reliability = 'reliable' AND memory.reliability = 'reliable'
  AND ((type(one) = type(other) AND startNode(other) = near) OR (type(one) = 'SUPPORTS' AND type(other) = 'CONTRADICTS'))
WITH DISTINCT one, other LIMIT $limit
RETURN [type(one), startNode(one).id, endNode(one).id, one.weight, one.created_at.epochMillis] AS one,
       [type(other), startNode(other).id, endNode(other).id, other.weight, other.created_at.epochMillis] AS other
