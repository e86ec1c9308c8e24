// Let processes start on a database into which a backup was restored, and count what it holds.
// mode: write
// scope: service
// params:
// returns: nodes: int, edges: int
MATCH (schema:Schema {id: 'graphmem', restoring: true})
REMOVE schema.restoring
RETURN COUNT { MATCH (node) WHERE NOT node:Schema AND NOT node:Probe } AS nodes, COUNT { ()-->() } AS edges
