// Concepts that a student knows, what is due soonest first, then what was never practised.
// mode: read
// scope: student
// params: institution: str, student_id: str, limit: int
// returns: known: list of [concept: list, attitude: float, familiarity: float, since: int in ms, notes: bytes, mastery: float, stability: float, difficulty: float, practised_at: int in ms, due_at: int in ms]
MATCH (student:Student {institution: $institution, id: $student_id})-[knows:KNOWS]->(concept:Concept {institution: $institution})
WITH knows, concept ORDER BY knows.due_at IS NULL, knows.due_at, concept.id LIMIT $limit
RETURN [[concept.id, concept.name, concept.aliases, concept.description, concept.domain,
         concept.grade, concept.misconceptions],
        knows.attitude, knows.familiarity, knows.since.epochMillis, knows.notes, knows.mastery, knows.stability,
        knows.difficulty, knows.practised_at.epochMillis, knows.due_at.epochMillis] AS known
