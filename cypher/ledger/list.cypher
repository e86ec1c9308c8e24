// A student's ledger, newest first, all of it or of one category, active or not. Nothing when the session has ended.
// mode: read, planned
// scope: student
// params: institution: str, student_id: str, session_id: str, category: str, active: bool, now: datetime
// returns: version: int, entries: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now
// By the student's own edges: without the id there is no index to find the entries by.
OPTIONAL MATCH (student)-[:KEEPS]->(entry:LedgerEntry {institution: $institution, student_id: $student_id})
WHERE ($category IS NULL OR entry.category = $category)
  AND ($active IS NULL OR $active = (entry.is_active AND coalesce(entry.expires_at > $now, true)))
WITH student, entry ORDER BY entry.created_at DESC, entry.id
// One row for all: a record of its own for each would take the driver ten times as long.
WITH student, collect(entry {.*, givers: COLLECT {
  MATCH (entry)-[:FORMED_FROM]->(source:Source) RETURN DISTINCT source.kind
}}) AS entries
RETURN student.memory_version AS version, entries
