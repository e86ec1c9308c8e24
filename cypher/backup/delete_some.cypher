// Delete some of what a restore that was cut short has left.
// mode: write
// scope: service
// params: limit: int
// returns: deleted: int
MATCH (:Schema {id: 'graphmem', restoring: true})
MATCH (node) WHERE NOT node:Schema
WITH node LIMIT $limit
DETACH DELETE node
RETURN count(*) AS deleted
