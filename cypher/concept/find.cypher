// A concept of an institution's world.
// mode: read
// scope: institution
// params: institution: str, id: str
// returns: concept: list of [id: str, name: str, aliases: list, description: str or null, domain: str or null, grade: int or null, misconceptions: list or null]
MATCH (concept:Concept {institution: $institution, id: $id})
RETURN [concept.id, concept.name, concept.aliases, concept.description, concept.domain,
        concept.grade, concept.misconceptions] AS concept
