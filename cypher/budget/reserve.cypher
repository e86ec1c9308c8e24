// Reserve the greatest cost of a job's questions, unless it exceeds a budget of the day.
// No row where there is no such student any more.
// A second reservation for the same job and day only adds what it exceeds the first by.
// mode: write
// scope: student
// params: institution: str, student_id: str, job_id: str, wanted: map, limits: map
// returns: fits: bool
MATCH (:Student {institution: $institution, id: $student_id})
MERGE (own:StudentBudget {institution: $institution, student_id: $student_id, day: date($wanted.at)})
ON CREATE SET own.tokens = 0, own.cost = 0.0, own.reserved_tokens = 0, own.reserved_cost = 0.0
SET own.asked_at = $wanted.at
MERGE (all:Budget {day: date($wanted.at)})
ON CREATE SET all.tokens = 0, all.cost = 0.0, all.reserved_tokens = 0, all.reserved_cost = 0.0
// Writing to it locks the day, so that a second worker sees what the first has reserved.
SET all.asked_at = $wanted.at
WITH own, all
OPTIONAL MATCH (known:Reservation {institution: $institution, student_id: $student_id, job_id: $job_id, day: date($wanted.at)})
WITH own, all, known IS NOT NULL AND known.tokens >= $wanted.tokens AND known.cost >= $wanted.cost AS repeated,
     $wanted.tokens - coalesce(known.tokens, 0) AS tokens, $wanted.cost - coalesce(known.cost, 0.0) AS cost
WITH own, all, repeated, tokens, cost, repeated OR (
    ($limits.student_tokens = 0 OR own.tokens + own.reserved_tokens + tokens <= $limits.student_tokens)
    AND ($limits.tokens = 0 OR all.tokens + all.reserved_tokens + tokens <= $limits.tokens)
    AND ($limits.student_cost = 0.0 OR own.cost + own.reserved_cost + cost <= $limits.student_cost)
    AND ($limits.cost = 0.0 OR all.cost + all.reserved_cost + cost <= $limits.cost)) AS fits
CALL (own, all, repeated, tokens, cost, fits) {
  WITH * WHERE fits AND NOT repeated
  MERGE (kept:Reservation {institution: $institution, student_id: $student_id, job_id: $job_id, day: date($wanted.at)})
  SET kept.tokens = $wanted.tokens, kept.cost = $wanted.cost,
      own.reserved_tokens = own.reserved_tokens + tokens, own.reserved_cost = own.reserved_cost + cost,
      all.reserved_tokens = all.reserved_tokens + tokens, all.reserved_cost = all.reserved_cost + cost
}
RETURN fits
