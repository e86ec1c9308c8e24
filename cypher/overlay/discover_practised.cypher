// Note that a student found the edges of the world between concepts that were practised together.
// mode: write
// scope: student
// params: institution: str, student_id: str, practised: list, now: datetime
// returns: edge_id: str, touched: list of map
UNWIND $practised AS practice
MATCH (source:Source {institution: $institution, student_id: $student_id, kind: practice.kind, ref: practice.ref})
MATCH (source)-[:PRACTISED]->(from:Concept {institution: $institution, id: practice.concept_id})
      -[edge:PREREQUISITE_OF|PART_OF|RELATED_TO]->(to:Concept)<-[:PRACTISED]-(source)
MERGE (from)-[found:DISCOVERED {institution: $institution, student_id: $student_id, edge_id: edge.id}]->(to)
ON CREATE SET found.since = $now
RETURN DISTINCT found.edge_id AS edge_id,
       [{label: 'Discovered', id: found.edge_id, links: ['DISCOVERED']}] AS touched
