// Create relationships of a backup that is restored, between nodes by their element ids.
// mode: write
// scope: service
// params: edges: list
// returns: edges: int
MATCH (:Schema {id: 'graphmem', restoring: true})
UNWIND $edges AS each
MATCH (from) WHERE elementId(from) = each.start
MATCH (to) WHERE elementId(to) = each.end
CREATE (from)-[edge:$(each.type)]->(to)
SET edge = each.properties
RETURN count(edge) AS edges
