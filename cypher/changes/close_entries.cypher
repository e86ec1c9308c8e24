// End what stems from memories that hold no longer: ledger entries all of whose memories have ended, but for a danger.
// Entries and facts that are named themselves end, too; what closed with a memory that holds again opens again.
// mode: write
// scope: student
// params: institution: str, student_id: str, rows: list of str, ended: list of str, now: datetime
// returns: touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
CALL (student) {
  MATCH (student)-[:KEEPS]->(entry:LedgerEntry {institution: $institution, student_id: $student_id})
  WHERE entry.category <> 'threat'
  WITH entry, entry.id IN $ended AS named,
       [(entry)-[:CONCERNS]->(memory:Memory {institution: $institution, student_id: $student_id}) | memory] AS memories
  WITH entry, named, any(memory IN memories WHERE memory.id IN $rows) AS touched,
       NOT named AND any(memory IN memories WHERE memory.invalid_at IS NULL) AS holds
  WHERE (named OR touched) AND ((entry.is_active AND NOT holds) OR (coalesce(entry.ended, false) AND holds))
  // Ended by what was said, so that what is said again begins anew.
  SET entry.is_active = holds,
      entry.settled_at = CASE WHEN holds THEN null ELSE $now END,
      entry.ended = CASE WHEN holds THEN null ELSE true END
  RETURN collect(entry.id) AS entries
}
CALL () {
  MATCH (fact:Fact {institution: $institution, student_id: $student_id})
  WHERE fact.id IN $ended
  SET fact.invalid_at = $now
  RETURN collect(fact.id) AS facts
}
RETURN [id IN entries | {label: 'LedgerEntry', id: id, set: ['is_active', 'settled_at', 'ended']}] +
       [id IN facts | {label: 'Fact', id: id, set: ['invalid_at']}] AS touched
