// How a student holds the concepts that were practised, or whose familiarity was set.
// mode: read
// scope: student
// params: institution: str, student_id: str
// returns: held: list of [id: str, mastery: float, stability: float, difficulty: float, practised_at: int in ms, due_at: int in ms]
MATCH (student:Student {institution: $institution, id: $student_id})-[knows:KNOWS]->(concept:Concept {institution: $institution})
WHERE knows.mastery IS NOT NULL
// One row: thousands of short ones take the driver several times as long.
RETURN collect([concept.id, knows.mastery, knows.stability, knows.difficulty, knows.practised_at.epochMillis,
                knows.due_at.epochMillis]) AS held
