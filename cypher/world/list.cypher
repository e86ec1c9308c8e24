// Concepts of an institution's world by id, each with the edges that leave it.
// mode: read
// scope: institution
// params: institution: str, after: str, limit: int
// returns: id: str, concept: list of [id: str, name: str, aliases: list, description: str or null, domain: str or null, grade: int or null, misconceptions: list or null], world: str, edges: list of [id: str, to_id: str, type: str]
MATCH (concept:Concept {institution: $institution}) WHERE concept.id > $after
WITH concept ORDER BY concept.id LIMIT $limit
RETURN concept.id AS id, [concept.id, concept.name, concept.aliases, concept.description, concept.domain,
        concept.grade, concept.misconceptions] AS concept,
       coalesce(concept.world, 'main') AS world,
       [(concept)-[edge:PREREQUISITE_OF|PART_OF|RELATED_TO]->(to) | [edge.id, to.id, type(edge)]] AS edges
