// Concepts that a student does not know though all their prerequisites are known; the lowest grade first, then those with most of them.
// mode: read
// scope: student
// params: institution: str, student_id: str, weak: list of str, limit: int
// returns: concept: list of [id: str, name: str, aliases: list, description: str or null, domain: str or null, grade: int or null, misconceptions: list or null]
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (concept:Concept {institution: $institution})
WHERE concept.id IS NOT NULL
  AND NOT EXISTS { (student)-[:KNOWS]->(concept) }
  AND NOT EXISTS {
    (concept)<-[:PREREQUISITE_OF]-(before:Concept)
    // What was practised badly or forgotten is known, but not well enough to build on.
    WHERE before.id IN $weak OR NOT EXISTS { (student)-[:KNOWS]->(before) }
  }
WITH concept, COUNT { (concept)<-[:PREREQUISITE_OF]-(:Concept) } AS prerequisites
ORDER BY coalesce(concept.grade, 0), prerequisites DESC, concept.id LIMIT $limit
RETURN [concept.id, concept.name, concept.aliases, concept.description, concept.domain,
        concept.grade, concept.misconceptions] AS concept
