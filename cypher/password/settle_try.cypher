// Take a counted try back: its password was right, or was never checked. A right one forgets the caller's wrong ones.
// mode: write, planned
// scope: student
// params: institution: str, student_id: str, caller: str, try_id: str, right: bool, patience: map, now: datetime
// returns:
MATCH (try:PasswordTry {institution: $institution, student_id: $student_id})
WHERE try.caller IN [$caller, ''] AND ($try_id IN try.ids OR ($right AND try.caller = $caller))
WITH try, CASE WHEN try.caller = '' THEN $patience.free_in_all ELSE $patience.free_tries END AS most
SET try.count = CASE WHEN $right AND try.caller = $caller THEN 0 ELSE try.count - 1 END,
    try.ids = CASE WHEN $right AND try.caller = $caller THEN [] ELSE [id IN try.ids WHERE id <> $try_id] END,
    try.opened_at = CASE WHEN $right AND try.caller = $caller THEN $now ELSE try.opened_at END
SET try.until = CASE WHEN try.count < most THEN null ELSE try.until END
