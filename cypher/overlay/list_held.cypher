// Some of the concepts that a student practised, or whose familiarity was set, with how they are held.
// mode: read
// scope: student
// params: institution: str, student_id: str, ids: list of str
// returns: known: list of [concept: list, attitude: float, familiarity: float, since: int in ms, notes: null, mastery: float, stability: float, difficulty: float, practised_at: int in ms, due_at: int in ms]
MATCH (student:Student {institution: $institution, id: $student_id})-[knows:KNOWS]->(concept:Concept {institution: $institution})
WHERE concept.id IN $ids AND knows.mastery IS NOT NULL
RETURN [[concept.id, concept.name, concept.aliases, concept.description, concept.domain,
         concept.grade, concept.misconceptions],
        knows.attitude, knows.familiarity, knows.since.epochMillis, null, knows.mastery, knows.stability,
        knows.difficulty, knows.practised_at.epochMillis, knows.due_at.epochMillis] AS known
ORDER BY concept.id
