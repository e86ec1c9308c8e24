// List the given ids that are edges of an institution's world.
// mode: read
// scope: institution
// params: institution: str, concepts: list of str, edge_ids: list of str
// returns: edge_id: str
UNWIND $concepts AS id
MATCH (from:Concept {institution: $institution, id: id})-[edge:PREREQUISITE_OF|PART_OF|RELATED_TO]->(to:Concept)
WHERE edge.id IN $edge_ids AND to.id IN $concepts
RETURN DISTINCT edge.id AS edge_id
