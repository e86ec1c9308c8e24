// A page of the concepts that a student knows, by id, and how many there are.
// mode: read
// scope: student
// params: institution: str, student_id: str, after: str, limit: int
// returns: total: int, known: list of [concept: list, attitude: float, familiarity: float, since: int in ms, notes: bytes, mastery: float, stability: float, difficulty: float, practised_at: int in ms, due_at: int in ms]
MATCH (student:Student {institution: $institution, id: $student_id})
CALL (student) {
  MATCH (student)-[knows:KNOWS]->(concept:Concept {institution: $institution}) WHERE concept.id > $after
  WITH knows, concept ORDER BY concept.id LIMIT $limit
  RETURN collect([[concept.id, concept.name, concept.aliases, concept.description, concept.domain,
                   concept.grade, concept.misconceptions],
                  knows.attitude, knows.familiarity, knows.since.epochMillis, knows.notes, knows.mastery, knows.stability,
                  knows.difficulty, knows.practised_at.epochMillis, knows.due_at.epochMillis]) AS known
}
RETURN COUNT { (student)-[:KNOWS]->(:Concept {institution: $institution}) } AS total, known
