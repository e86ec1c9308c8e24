// Create what a student who is being imported knows of the world, and has found of it.
// mode: write
// scope: student
// params: institution: str, student_id: str, overlay: list, discovered: list
// returns: known: int, discovered: int
MATCH (student:Student {institution: $institution, id: $student_id})
CALL (student) {
  UNWIND $overlay AS held
  MATCH (concept:Concept {institution: $institution, id: held.concept})
  CREATE (student)-[knows:KNOWS]->(concept)
  SET knows += held.properties
  RETURN count(knows) AS known
}
CALL (student) {
  MATCH (student)-[:KNOWS]->(from:Concept)-[edge:PREREQUISITE_OF|PART_OF|RELATED_TO]->(to:Concept)<-[:KNOWS]-(student)
  UNWIND [found IN $discovered WHERE found.edge_id = edge.id] AS found
  MERGE (from)-[discovered:DISCOVERED {institution: $institution, student_id: $student_id, edge_id: edge.id}]->(to)
  ON CREATE SET discovered.since = found.since
  RETURN count(discovered) AS discovered
}
RETURN known, discovered
