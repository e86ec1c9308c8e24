// Take a concern back: it was a false alarm. The first time counts; its ledger entry is no longer active.
// No row, and nothing written, without such a concern, or when the session has ended.
// mode: write
// scope: student
// params: institution: str, student_id: str, session_id: str, id: str, note: bytes, now: datetime
// returns: level: str, memories: list of str, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it.
SET student.jobs_at = coalesce(student.jobs_at, $now)
WITH student
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now
MATCH (concern:Concern {institution: $institution, student_id: $student_id, id: $id})
FOREACH (c IN CASE WHEN concern.corrected_at IS NULL THEN [concern] ELSE [] END |
  // Counted versions tell every replica that what it holds is stale.
  SET c.corrected_at = $now, c.note = $note,
      student.version = student.version + 1, student.memory_version = student.memory_version + 1
)
WITH concern
CALL (concern) {
  MATCH (concern)-[:KEPT_AS]->(entry:LedgerEntry {institution: $institution, student_id: $student_id})
  // What another concern keeps stays.
  WHERE NOT EXISTS {
    MATCH (other:Concern {institution: $institution, student_id: $student_id})-[:KEPT_AS]->(entry)
    WHERE other.corrected_at IS NULL
  }
  SET entry.is_active = false
  RETURN collect(entry.id) AS entries
}
RETURN concern.level AS level,
       COLLECT { MATCH (concern)-[:FORMED_FROM]->(:Source)<-[:FORMED_FROM]-(memory:Memory)
                 WHERE memory.timestamp = concern.at
                 RETURN DISTINCT memory.id } AS memories,
       [{label: 'Concern', id: concern.id, set: ['corrected_at', 'note']}] +
       [id IN entries | {label: 'LedgerEntry', id: id, set: ['is_active']}] AS touched
