// Set attitude, familiarity and notes of a concept that a student knows; null leaves what is there.
// No row where it is not known.
// mode: write
// scope: student
// params: institution: str, student_id: str, id: str, attitude: float, familiarity: float, notes: bytes
// returns: known: list of [concept: list, attitude: float, familiarity: float, since: int in ms, notes: bytes]
MATCH (student:Student {institution: $institution, id: $student_id})
      -[knows:KNOWS]->(concept:Concept {institution: $institution, id: $id})
SET knows.attitude = coalesce($attitude, knows.attitude), knows.familiarity = coalesce($familiarity, knows.familiarity),
    knows.notes = coalesce($notes, knows.notes)
RETURN [[concept.id, concept.name, concept.aliases, concept.description, concept.domain,
         concept.grade, concept.misconceptions],
        knows.attitude, knows.familiarity, knows.since.epochMillis, knows.notes] AS known
