// Settle a promise or a debt; what is neither, or settled already, stays as it is.
// No row, and nothing written, without such an entry, or when the session has ended.
// mode: write
// scope: student
// params: institution: str, student_id: str, session_id: str, id: str, note: bytes, now: datetime
// returns: version: int, entry: map, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it.
SET student.jobs_at = coalesce(student.jobs_at, $now)
WITH student
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now
MATCH (entry:LedgerEntry {institution: $institution, student_id: $student_id, id: $id})
FOREACH (e IN CASE
    WHEN entry.category IN ['promise', 'debt'] AND entry.settled_at IS NULL THEN [entry]
    ELSE []
  END |
  // A counted version tells every replica that what it holds is stale.
  SET e.is_active = false, e.settled_at = $now, e.note = $note, student.memory_version = student.memory_version + 1
)
RETURN student.memory_version AS version, properties(entry) AS entry,
       CASE WHEN entry.category IN ['promise', 'debt'] THEN [{label: 'LedgerEntry', id: entry.id, set: ['is_active', 'settled_at', 'note']}]
            ELSE [] END AS touched
