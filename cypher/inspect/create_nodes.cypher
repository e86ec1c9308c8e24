// Create the nodes of a readable copy, in a database of its own.
// mode: write
// scope: service
// params: nodes: list
// returns: key: int, element: str
UNWIND $nodes AS node
CREATE (copy:$(node.labels))
SET copy = node.properties
RETURN node.key AS key, elementId(copy) AS element
