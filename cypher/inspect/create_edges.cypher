// Create the relationships of a readable copy, between nodes that were just created.
// mode: write
// scope: service
// params: edges: list
// returns: edges: int
UNWIND $edges AS edge
MATCH (from) WHERE elementId(from) = edge.start
MATCH (to) WHERE elementId(to) = edge.end
CREATE (from)-[copy:$(edge.type)]->(to)
SET copy = edge.properties
RETURN count(copy) AS edges
