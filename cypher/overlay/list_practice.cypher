// All practice of some concepts that a student knows: of each the moments and outcomes, and what was set by hand.
// mode: read
// scope: student
// params: institution: str, student_id: str, ids: list of str
// returns: id: str, practice: list of [at: int in ms, outcome: str], familiarity: float, set_at: int in ms or null
MATCH (student:Student {institution: $institution, id: $student_id})-[knows:KNOWS]->(concept:Concept {institution: $institution})
WHERE concept.id IN $ids
RETURN concept.id AS id,
       COLLECT { MATCH (source:Source {institution: $institution, student_id: $student_id})-[practised:PRACTISED]->(concept)
                 RETURN [source.at.epochMillis, practised.outcome] } AS practice,
       knows.familiarity AS familiarity, knows.set_at.epochMillis AS set_at
