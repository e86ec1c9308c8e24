// Count a try of a password before it is checked, once by its id; too many of them have to wait, longer each time.
// mode: write
// scope: student
// params: institution: str, student_id: str, try_id: str, now: datetime, free_tries: int, wait: float, longest_wait: float
// returns: allowed: bool
MERGE (try:PasswordTry {institution: $institution, student_id: $student_id})
ON CREATE SET try.count = 0
SET try.at = $now
WITH try, $try_id IN coalesce(try.ids, []) AS repeated, coalesce(try.until <= $now, true) AS free
WITH try, repeated OR free AS allowed, free AND NOT repeated AS counted
SET try.count = try.count + CASE WHEN counted THEN 1 ELSE 0 END,
    try.ids = CASE WHEN counted THEN (coalesce(try.ids, []) + [$try_id])[-20..] ELSE coalesce(try.ids, []) END
WITH try, allowed, counted, $wait * 2.0 ^ (try.count - $free_tries) AS wait
SET try.until = CASE
    WHEN counted AND try.count >= $free_tries
    THEN $now + duration({seconds: CASE WHEN wait < $longest_wait THEN wait ELSE $longest_wait END})
    ELSE try.until
  END
RETURN allowed
