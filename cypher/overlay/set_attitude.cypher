// Set attitude, familiarity and notes of a concept that a student knows; null leaves what is there.
// No row where it is not known.
// mode: write
// scope: student
// params: institution: str, student_id: str, id: str, attitude: float, familiarity: float, notes: bytes, now: datetime
// returns: known: list of [concept: list, attitude: float, familiarity: float, since: int in ms, notes: bytes, mastery: float, stability: float, difficulty: float, practised_at: int in ms, due_at: int in ms], touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
      -[knows:KNOWS]->(concept:Concept {institution: $institution, id: $id})
SET knows.attitude = coalesce($attitude, knows.attitude), knows.familiarity = coalesce($familiarity, knows.familiarity),
    knows.set_at = CASE WHEN $familiarity IS NULL THEN knows.set_at ELSE $now END,
    knows.notes = coalesce($notes, knows.notes)
RETURN [[concept.id, concept.name, concept.aliases, concept.description, concept.domain,
         concept.grade, concept.misconceptions],
        knows.attitude, knows.familiarity, knows.since.epochMillis, knows.notes, knows.mastery, knows.stability,
        knows.difficulty, knows.practised_at.epochMillis, knows.due_at.epochMillis] AS known,
       [{label: 'Concept', id: concept.id, links: ['KNOWS']}] AS touched
