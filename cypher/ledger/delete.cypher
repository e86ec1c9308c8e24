// Delete a ledger entry for good; a concern that it raised stays as a flag without words. No row, and nothing written, when the session has ended.
// mode: write
// scope: student
// params: institution: str, student_id: str, session_id: str, id: str, now: datetime
// returns: deleted: bool, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now
// Writing the student locks it.
SET student.jobs_at = coalesce(student.jobs_at, $now)
WITH student
OPTIONAL MATCH (entry:LedgerEntry {institution: $institution, student_id: $student_id, id: $id})
WITH student, entry, entry IS NOT NULL AS deleted,
     COLLECT { MATCH (entry)-[:CONCERNS]->(memory:Memory)
               WHERE NOT EXISTS { MATCH (other:LedgerEntry)-[:CONCERNS]->(memory) WHERE other <> entry }
               RETURN memory } AS freed
FOREACH (_ IN CASE WHEN deleted THEN [1] ELSE [] END |
  // A counted version tells every replica that what it holds is stale.
  SET student.memory_version = student.memory_version + 1
)
// What rested on it alone may fade from now on.
FOREACH (memory IN freed | SET memory.in_ledger = false, memory.written = student.memory_version)
CALL (entry) {
  MATCH (concern:Concern)-[:KEPT_AS]->(entry)
  WHERE NOT EXISTS { (concern)-[:FORMED_FROM]->(:Source) }
  REMOVE concern.text, concern.note
  RETURN collect(concern.id) AS cleared
}
DETACH DELETE entry
RETURN deleted,
       [{label: 'LedgerEntry', id: $id, gone: true}] + [id IN cleared | {label: 'Concern', id: id, set: ['text', 'note']}] +
       [memory IN freed | {label: 'Memory', id: memory.id, set: ['in_ledger']}] AS touched
