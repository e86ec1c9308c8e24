// Count a try of a password before it is checked; too many of them have to wait, longer each time.
// mode: write
// scope: student
// params: institution: str, student_id: str, now: datetime, free_tries: int, wait: float, longest_wait: float
// returns: allowed: bool
MERGE (try:PasswordTry {institution: $institution, student_id: $student_id})
ON CREATE SET try.count = 0
SET try.at = $now
WITH try, coalesce(try.until <= $now, true) AS allowed
SET try.count = try.count + CASE WHEN allowed THEN 1 ELSE 0 END
WITH try, allowed, $wait * 2.0 ^ (try.count - $free_tries) AS wait
SET try.until = CASE
    WHEN allowed AND try.count >= $free_tries
    THEN $now + duration({seconds: CASE WHEN wait < $longest_wait THEN wait ELSE $longest_wait END})
    ELSE try.until
  END
RETURN allowed
