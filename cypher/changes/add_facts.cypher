// Add the facts that a turn or its surprise taught to the ring of the newest facts, and delete those beyond it.
// mode: write
// scope: student
// params: institution: str, student_id: str, facts: list, kept: int, surprised: bool, source_id: str, source_kinds: list, source_ref: str
// returns: facts: int, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (companion:Companion {institution: $institution, student_id: $student_id})
MATCH (source:Source {institution: $institution, student_id: $student_id, ref: $source_ref})
WHERE source.kind IN $source_kinds AND coalesce(source.id = $source_id, $source_id IS NULL)
WITH student, companion, source, student.facts AS before
SET student.facts = before + size($facts)
WITH student, companion, source, before
CALL (companion, source, before) {
  UNWIND range(1, size($facts)) AS place
  // One that was known already is said anew, and one that had ended holds again.
  MERGE (fact:Fact {institution: $institution, student_id: $student_id, id: $facts[place - 1].id})
  ON CREATE SET fact.origin = CASE WHEN $surprised THEN 'surprise' END
  SET fact += $facts[place - 1], fact.seq = before + place
  REMOVE fact.invalid_at
  MERGE (fact)-[:FORMED_FROM]->(source)
  MERGE (companion)-[:LEARNED]->(fact)
}
CALL (student) {
  MATCH (old:Fact {institution: $institution, student_id: $student_id})
  WHERE old.seq <= student.facts - $kept
  WITH old, old.id AS id
  DETACH DELETE old
  RETURN collect(id) AS gone
}
RETURN student.facts AS facts,
       [fact IN $facts | {label: 'Fact', id: fact.id, replaced: true, links: ['FORMED_FROM', 'LEARNED']}] +
       [id IN gone | {label: 'Fact', id: id, gone: true}] AS touched
