// How many threats of a student's ledger are active: the wellbeing flag, without any content.
// mode: read
// scope: student
// params: institution: str, student_id: str, now: datetime
// returns: threats: int
MATCH (student:Student {institution: $institution, id: $student_id})
      -[:KEEPS]->(entry:LedgerEntry {institution: $institution, student_id: $student_id})
WHERE entry.category = 'threat' AND entry.is_active AND coalesce(entry.expires_at > $now, true)
RETURN count(entry) AS threats
