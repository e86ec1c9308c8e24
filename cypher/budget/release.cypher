// Give back what was set aside for a question that has been answered and counted.
// mode: write
// scope: student
// params: institution: str, student_id: str, tokens: int, cost: float, reserved_at: datetime, now: datetime
// returns: tokens: int
MATCH (budget:Budget {day: date($reserved_at)})
// Writing it locks the day, as whoever sets something aside does.
SET budget.asked_at = $now
WITH budget
MATCH (usage:Usage {institution: $institution, student_id: $student_id, day: date($reserved_at), kind: 'reserved'})
SET usage.input_tokens = usage.input_tokens - $tokens, usage.cost = usage.cost - $cost
RETURN usage.input_tokens AS tokens
