// Add the facts that a surprise taught to the ring of the newest facts, and delete those beyond it.
// mode: write
// scope: student
// params: institution: str, student_id: str, facts: list, kept: int, source_id: str, source_kinds: list, source_ref: str
// returns: facts: int
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (companion:Companion {institution: $institution, student_id: $student_id})
MATCH (source:Source {institution: $institution, student_id: $student_id, ref: $source_ref})
WHERE source.kind IN $source_kinds AND coalesce(source.id = $source_id, $source_id IS NULL)
WITH student, companion, source, student.facts AS before
SET student.facts = before + size($facts)
WITH student, companion, source, before
CALL (companion, source, before) {
  UNWIND range(1, size($facts)) AS place
  CREATE (fact:Fact {institution: $institution, student_id: $student_id})
  SET fact += $facts[place - 1], fact.seq = before + place, fact.origin = 'surprise'
  CREATE (fact)-[:FORMED_FROM]->(source)
  CREATE (companion)-[:LEARNED]->(fact)
}
CALL (student) {
  MATCH (old:Fact {institution: $institution, student_id: $student_id})
  WHERE old.seq <= student.facts - $kept
  DETACH DELETE old
}
RETURN student.facts AS facts
