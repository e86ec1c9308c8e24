// Keep a concern and its ledger entry; one that was taken back stays so, and its entry inactive.
// mode: write
// scope: student
// params: institution: str, student_id: str, raised: map, kinds: list, ref: str
// returns: corrected: bool, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
// A counted version tells every replica that what it holds is stale; the write locks the student.
SET student.memory_version = student.memory_version + 1
MERGE (concern:Concern {institution: $institution, student_id: $student_id, id: $raised.concern.id})
ON CREATE SET concern += $raised.concern
SET concern.text = coalesce(concern.text, $raised.concern.text)
MERGE (student)-[:SHOWS]->(concern)
MERGE (entry:LedgerEntry {institution: $institution, student_id: $student_id, id: $raised.entry.id})
ON CREATE SET entry += $raised.entry
// Reported again, and surer, it matters more.
SET entry.is_active = concern.corrected_at IS NULL,
    entry.importance = CASE WHEN entry.importance < $raised.entry.importance THEN $raised.entry.importance
                            ELSE entry.importance END
MERGE (student)-[:KEEPS]->(entry)
MERGE (concern)-[:KEPT_AS]->(entry)
WITH concern, entry
OPTIONAL MATCH (source:Source {institution: $institution, student_id: $student_id, ref: $ref})
WHERE source.kind IN $kinds
FOREACH (s IN CASE WHEN source IS NULL THEN [] ELSE [source] END |
  MERGE (concern)-[:FORMED_FROM]->(s)
  MERGE (entry)-[:FORMED_FROM]->(s)
)
RETURN concern.corrected_at IS NOT NULL AS corrected,
       [{label: 'Concern', id: concern.id, made: true, set: ['text'], links: ['SHOWS', 'FORMED_FROM', 'KEPT_AS']},
        {label: 'LedgerEntry', id: entry.id, made: true, set: ['is_active', 'importance'], links: ['KEEPS', 'FORMED_FROM']}] AS touched
