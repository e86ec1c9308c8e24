// Set aside what a question to a language model may cost at most, unless that exceeds a budget of the day; the row says whether it fits.
// mode: write
// scope: student
// params: institution: str, student_id: str, tokens: int, cost: float, student_tokens: int, all_tokens: int, student_cost: float, all_cost: float, now: datetime
// returns: fits: bool
MERGE (budget:Budget {day: date($now)})
// Writing it locks the day, so that a second worker sees what the first has set aside.
SET budget.asked_at = $now
WITH budget
CALL () {
  MATCH (usage:Usage)
  WHERE usage.day = date($now)
  WITH usage.institution = $institution AND usage.student_id = $student_id AS own,
       usage.input_tokens + usage.output_tokens AS tokens, usage.cost AS cost
  RETURN sum(tokens) AS tokens, sum(cost) AS cost,
         sum(CASE WHEN own THEN tokens ELSE 0 END) AS own_tokens, sum(CASE WHEN own THEN cost ELSE 0.0 END) AS own_cost
}
WITH ($student_tokens = 0 OR own_tokens + $tokens <= $student_tokens)
     AND ($all_tokens = 0 OR tokens + $tokens <= $all_tokens)
     AND ($student_cost = 0.0 OR own_cost + $cost <= $student_cost)
     AND ($all_cost = 0.0 OR cost + $cost <= $all_cost) AS fits
CALL (fits) {
  WITH * WHERE fits
  MERGE (usage:Usage {institution: $institution, student_id: $student_id, day: date($now), kind: 'reserved'})
  ON CREATE SET usage.calls = 0, usage.input_tokens = 0, usage.output_tokens = 0, usage.cost = 0.0
  SET usage.input_tokens = usage.input_tokens + $tokens, usage.cost = usage.cost + $cost
}
RETURN fits
