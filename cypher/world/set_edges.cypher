// Add edges between concepts of an institution's world.
// mode: write
// scope: institution
// params: institution: str, edges: list
// returns: edges: int
UNWIND $edges AS edge
MATCH (from:Concept {institution: $institution, id: edge.from_id})
MATCH (to:Concept {institution: $institution, id: edge.to_id})
MERGE (from)-[relation:$(edge.type) {id: edge.id}]->(to)
RETURN count(relation) AS edges
