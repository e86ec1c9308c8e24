// Count a try of a password as wrong before it is checked, once by its id: the caller's, and with all callers together.
// Too many of one's own have to wait, longer each time; a caller who had the right password before waits for no other's.
// mode: write, planned
// scope: student
// params: institution: str, student_id: str, caller: str, try_id: str, now: datetime, patience: map
// returns: allowed: bool
MERGE (own:PasswordTry {institution: $institution, student_id: $student_id, caller: $caller})
ON CREATE SET own.count = 0, own.ids = []
MERGE (every:PasswordTry {institution: $institution, student_id: $student_id, caller: ''})
ON CREATE SET every.count = 0, every.ids = []
SET own.at = $now, every.at = $now
WITH own, every, $try_id IN own.ids AS repeated,
     coalesce(own.until <= $now, true) AND (own.opened_at IS NOT NULL OR coalesce(every.until <= $now, true)) AS free
WITH own, every, repeated OR free AS allowed, free AND NOT repeated AS counted
CALL (own, every, counted) {
  UNWIND [[own, $patience.free_tries], [every, $patience.free_in_all]] AS pair
  WITH pair[0] AS try, pair[1] AS most
  // Who is known by a right password before says nothing of those who guess.
  WHERE counted AND (try = own OR own.opened_at IS NULL)
  SET try.count = try.count + 1, try.ids = (try.ids + [$try_id])[-200..]
  WITH try, most, $patience.wait * 2.0 ^ (try.count - most) AS wait
  SET try.until = CASE
      WHEN try.count < most THEN null
      ELSE $now + duration({seconds: CASE WHEN wait < $patience.longest_wait THEN wait ELSE $patience.longest_wait END})
    END
}
RETURN allowed
