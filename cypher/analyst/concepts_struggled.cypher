// How many students struggle with which concept: they stated a misconception of it, or last practised it in vain.
// mode: read
// scope: institution
// params: institution: str, limit: int
// returns: id: str, name: str, domain: str or null, known: int, misconceived: int, failing: int, memories: int
MATCH (concept:Concept {institution: $institution}) WHERE concept.id IS NOT NULL
CALL (concept) {
  OPTIONAL MATCH (memory:Memory {institution: $institution})-[:ABOUT]->(concept)
  RETURN count(memory) AS memories,
         count(DISTINCT CASE WHEN memory.aspect = 'misconception' THEN memory.student_id END) AS misconceived
}
CALL (concept) {
  OPTIONAL MATCH (student:Student {institution: $institution})-[knows:KNOWS]->(concept)
  RETURN count(student) AS known, count(CASE WHEN knows.mastery < 0.5 THEN student END) AS failing
}
WITH concept, known, misconceived, failing, memories WHERE misconceived + failing > 0
RETURN concept.id AS id, concept.name AS name, concept.domain AS domain, known, misconceived, failing, memories
ORDER BY misconceived + failing DESC, memories DESC, id LIMIT $limit
