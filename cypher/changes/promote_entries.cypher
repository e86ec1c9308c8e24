// Create ledger entries of what was said; an entry that exists stays as it is, unless what was said had ended it.
// The memories that they rest on never fade.
// mode: write
// scope: student
// params: institution: str, student_id: str, rows: list, source_id: str, source_kinds: list, source_ref: str, written: int
// returns: touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (source:Source {institution: $institution, student_id: $student_id, ref: $source_ref})
WHERE source.kind IN $source_kinds AND coalesce(source.id = $source_id, $source_id IS NULL)
UNWIND $rows AS promoted
MERGE (entry:LedgerEntry {institution: $institution, student_id: $student_id, id: promoted.properties.id})
ON CREATE SET entry += promoted.properties
FOREACH (e IN CASE WHEN entry.ended THEN [entry] ELSE [] END |
  SET e.is_active = true, e.created_at = promoted.properties.created_at
  REMOVE e.settled_at, e.ended
)
MERGE (student)-[:KEEPS]->(entry)
MERGE (entry)-[:FORMED_FROM]->(source)
WITH entry, promoted
OPTIONAL MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: promoted.memory_id})
USING INDEX memory:Memory(institution, student_id, id)
FOREACH (m IN CASE WHEN memory IS NULL THEN [] ELSE [memory] END |
  SET m.in_ledger = true, m.written = $written
  MERGE (entry)-[:CONCERNS]->(m)
)
RETURN collect(DISTINCT {label: 'LedgerEntry', id: entry.id, made: true, set: ['is_active', 'created_at', 'settled_at', 'ended'], links: ['KEEPS', 'FORMED_FROM', 'CONCERNS']}) +
       collect(DISTINCT {label: 'Memory', id: memory.id, set: ['in_ledger']}) AS touched
