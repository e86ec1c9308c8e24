// How many students struggle with a domain of the world: those who told a misconception of it, last practised some of it in vain, or left a doubt about it open.
// mode: read
// scope: institution
// params: institution: str
// returns: domain: str, concepts: int, students: int, misconceived: int, failing: int, doubting: int
MATCH (concept:Concept {institution: $institution}) WHERE concept.id IS NOT NULL AND concept.domain IS NOT NULL
CALL (concept) {
  MATCH (memory:Memory {institution: $institution, aspect: 'misconception'})-[:ABOUT]->(concept)
  WHERE memory.invalid_at IS NULL
  RETURN memory.student_id AS student, 'misconceived' AS sign
  UNION
  MATCH (student:Student {institution: $institution})-[knows:KNOWS]->(concept) WHERE knows.mastery < 0.5
  RETURN student.id AS student, 'failing' AS sign
  UNION
  MATCH (doubt:Uncertainty {institution: $institution})-[:ABOUT]->(concept) WHERE doubt.resolved_at IS NULL
  RETURN doubt.student_id AS student, 'doubting' AS sign
}
RETURN concept.domain AS domain, count(DISTINCT concept) AS concepts, count(DISTINCT student) AS students,
       count(DISTINCT CASE sign WHEN 'misconceived' THEN student END) AS misconceived,
       count(DISTINCT CASE sign WHEN 'failing' THEN student END) AS failing,
       count(DISTINCT CASE sign WHEN 'doubting' THEN student END) AS doubting
ORDER BY students DESC, domain
