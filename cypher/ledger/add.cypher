// Keep a ledger entry; an equal one that is active stays as it is, one that was settled or has expired begins anew.
// A concern is raised with it where it is new or begins anew, or where no open concern keeps it.
// No row, and nothing written, when the session has ended.
// mode: write
// scope: student
// params: institution: str, student_id: str, session_id: str, entry: map, concerns: list, now: datetime
// returns: version: int, entry: map, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it.
SET student.jobs_at = coalesce(student.jobs_at, $now)
WITH student
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now
// A counted version tells every replica that what it holds is stale.
SET student.memory_version = student.memory_version + 1
MERGE (entry:LedgerEntry {institution: $institution, student_id: $student_id, id: $entry.id})
WITH student, entry, coalesce(entry.is_active, false) AND coalesce(entry.expires_at > $now, true) AS kept
FOREACH (_ IN CASE WHEN kept THEN [] ELSE [1] END |
  SET entry += $entry
  REMOVE entry.settled_at, entry.note
)
MERGE (student)-[:KEEPS]->(entry)
WITH student, entry, kept AND EXISTS {
  MATCH (open:Concern {institution: $institution, student_id: $student_id})-[:KEPT_AS]->(entry)
  WHERE open.corrected_at IS NULL
} AS raised
FOREACH (each IN CASE WHEN raised THEN [] ELSE $concerns END |
  MERGE (concern:Concern {institution: $institution, student_id: $student_id, id: each.id})
  ON CREATE SET concern += each
  MERGE (student)-[:SHOWS]->(concern)
  MERGE (concern)-[:KEPT_AS]->(entry)
)
RETURN student.memory_version AS version, properties(entry) AS entry,
       [{label: 'LedgerEntry', id: entry.id, replaced: true, links: ['KEEPS']}] +
       [each IN $concerns | {label: 'Concern', id: each.id, made: true, links: ['SHOWS', 'KEPT_AS']}] AS touched
