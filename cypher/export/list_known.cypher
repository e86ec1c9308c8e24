// A page of the concepts that a student knows, by id, with all that is kept of each.
// mode: read
// scope: student
// params: institution: str, student_id: str, after: str, limit: int
// returns: concept: str, name: str, properties: map
MATCH (:Student {institution: $institution, id: $student_id})-[knows:KNOWS]->(concept:Concept {institution: $institution})
WHERE concept.id > $after
RETURN concept.id AS concept, concept.name AS name, properties(knows) AS properties
ORDER BY concept LIMIT $limit
