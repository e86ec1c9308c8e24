// Create nodes of a backup that is restored.
// mode: write
// scope: service
// params: nodes: list
// returns: key: str, element: str
MATCH (:Schema {id: 'graphmem', restoring: true})
UNWIND $nodes AS each
CREATE (node:$(each.labels))
SET node = each.properties
RETURN each.key AS key, elementId(node) AS element
