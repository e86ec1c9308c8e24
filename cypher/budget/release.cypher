// Release the budget reserved for the questions of a job; a second release has no effect.
// mode: write
// scope: student
// params: institution: str, student_id: str, job_id: str, reserved_at: datetime, now: datetime
// returns: released: int
MATCH (own:StudentBudget {institution: $institution, student_id: $student_id, day: date($reserved_at)})
SET own.asked_at = $now
WITH own
MATCH (all:Budget {day: date($reserved_at)})
// Writing to it locks the day, as a reservation does.
SET all.asked_at = $now
WITH own, all
MATCH (known:Reservation {institution: $institution, student_id: $student_id, job_id: $job_id,
                          day: date($reserved_at)})
USING INDEX known:Reservation(institution, student_id, job_id, day)
SET own.reserved_tokens = own.reserved_tokens - known.tokens, own.reserved_cost = own.reserved_cost - known.cost,
    all.reserved_tokens = all.reserved_tokens - known.tokens, all.reserved_cost = all.reserved_cost - known.cost
DELETE known
RETURN count(*) AS released
