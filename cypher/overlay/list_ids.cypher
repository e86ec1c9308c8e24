// Ids of the concepts that a student knows.
// mode: read
// scope: student
// params: institution: str, student_id: str
// returns: ids: list of str
MATCH (student:Student {institution: $institution, id: $student_id})
RETURN COLLECT { MATCH (student)-[:KNOWS]->(concept:Concept {institution: $institution}) RETURN concept.id } AS ids
