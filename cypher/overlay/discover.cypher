// Note that a student found edges of the world; only those between concepts that the student knows.
// mode: write
// scope: student
// params: institution: str, student_id: str, edge_ids: list of str, now: datetime
// returns: edge_id: str, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (student)-[:KNOWS]->(from:Concept)-[edge:PREREQUISITE_OF|PART_OF|RELATED_TO]->(to:Concept)<-[:KNOWS]-(student)
WHERE edge.id IN $edge_ids
MERGE (from)-[found:DISCOVERED {institution: $institution, student_id: $student_id, edge_id: edge.id}]->(to)
ON CREATE SET found.since = $now
RETURN found.edge_id AS edge_id,
       [{label: 'Discovered', id: found.edge_id, links: ['DISCOVERED']}] AS touched
