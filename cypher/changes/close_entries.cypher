// End ledger entries whose memories all hold no longer: wishes, promises, debts and secrets; any but a danger where what was said was wrong or taken back.
// mode: write
// scope: student
// params: institution: str, student_id: str, ended: list, wrong: list, now: datetime
// returns: entries: int, ids: list of str
MATCH (entry:LedgerEntry {institution: $institution, student_id: $student_id})
      -[:CONCERNS]->(memory:Memory {institution: $institution, student_id: $student_id})
USING INDEX memory:Memory(institution, student_id, id)
WHERE memory.id IN $ended
WITH DISTINCT entry
WHERE entry.is_active AND entry.category <> 'threat'
  AND NOT EXISTS {
    (entry)-[:CONCERNS]->(other:Memory {institution: $institution, student_id: $student_id})
    WHERE other.invalid_at IS NULL
  }
  AND (
    entry.category IN ['instruction', 'promise', 'debt', 'secret']
    OR EXISTS {
      (entry)-[:CONCERNS]->(other:Memory {institution: $institution, student_id: $student_id})
      WHERE other.id IN $wrong
    }
  )
// Ended by what was said, so that what is said again begins anew.
SET entry.is_active = false, entry.settled_at = $now, entry.ended = true
RETURN count(entry) AS entries, collect(entry.id) AS ids
