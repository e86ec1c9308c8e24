// Concepts that a student knows, what is due soonest first, then what was never practised; after a certain one.
// mode: read
// scope: student
// params: institution: str, student_id: str, after: str, limit: int
// returns: known: list of [concept: list, attitude: float, familiarity: float, since: int in ms, notes: bytes, mastery: float, stability: float, difficulty: float, practised_at: int in ms, due_at: int in ms]
MATCH (student:Student {institution: $institution, id: $student_id})
OPTIONAL MATCH (student)-[last:KNOWS]->(:Concept {institution: $institution, id: $after})
MATCH (student)-[knows:KNOWS]->(concept:Concept {institution: $institution})
// Nothing comes after a concept that is not known.
WITH knows, concept, coalesce(knows.due_at.epochMillis, 9223372036854775807) AS due,
     CASE WHEN last IS NOT NULL THEN coalesce(last.due_at.epochMillis, 9223372036854775807) END AS last_due
WHERE $after = '' OR due > last_due OR (due = last_due AND concept.id > $after)
WITH knows, concept ORDER BY due, concept.id LIMIT $limit
RETURN [[concept.id, concept.name, concept.aliases, concept.description, concept.domain,
         concept.grade, concept.misconceptions],
        knows.attitude, knows.familiarity, knows.since.epochMillis, knows.notes, knows.mastery, knows.stability,
        knows.difficulty, knows.practised_at.epochMillis, knows.due_at.epochMillis] AS known
