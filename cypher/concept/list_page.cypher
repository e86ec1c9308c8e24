// A page of an institution's concepts by id, and how many there are.
// mode: read
// scope: institution
// params: institution: str, domain: str, after: str, limit: int
// returns: total: int, concepts: list of [id: str, name: str, aliases: list, description: str or null, domain: str or null, grade: int or null, misconceptions: list or null]
CALL () {
  MATCH (concept:Concept {institution: $institution})
  WHERE concept.id IS NOT NULL AND ($domain IS NULL OR concept.domain = $domain)
  RETURN count(*) AS total
}
CALL () {
  MATCH (concept:Concept {institution: $institution})
  WHERE concept.id > $after AND ($domain IS NULL OR concept.domain = $domain)
  WITH concept ORDER BY concept.id LIMIT $limit
  RETURN collect([concept.id, concept.name, concept.aliases, concept.description, concept.domain,
                  concept.grade, concept.misconceptions]) AS concepts
}
RETURN total, concepts
