// Store many facts of a student at once, as an import brings them; those of a known id are left as they are.
// mode: write
// scope: student
// params: institution: str, student_id: str, facts: list, newest: int
// returns: facts: int
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (companion:Companion {institution: $institution, student_id: $student_id})
SET student.version = student.version + 1,
    student.facts = CASE WHEN student.facts < $newest THEN $newest ELSE student.facts END
WITH companion
UNWIND $facts AS fact
MERGE (f:Fact {institution: $institution, student_id: $student_id, id: fact.id})
ON CREATE SET f += fact
MERGE (companion)-[:LEARNED]->(f)
RETURN count(f) AS facts
