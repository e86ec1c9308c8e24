// Give the budgets of an older schema their totals, from the usage of each day.
// mode: write
// scope: service
// params:
// returns: budgets: int
CALL () {
  MATCH (reserved:Usage {kind: 'reserved'})
  DELETE reserved
}
CALL () {
  MATCH (usage:Usage) WHERE usage.day IS NOT NULL
  WITH usage.institution AS institution, usage.student_id AS student_id, usage.day AS day,
       sum(usage.input_tokens + usage.output_tokens) AS tokens, sum(usage.cost) AS cost
  MERGE (own:StudentBudget {institution: institution, student_id: student_id, day: day})
  ON CREATE SET own.reserved_tokens = 0, own.reserved_cost = 0.0
  SET own.tokens = tokens, own.cost = cost
}
MATCH (own:StudentBudget)
WITH own.day AS day, sum(own.tokens) AS tokens, sum(own.cost) AS cost
MERGE (shared:Budget {day: day})
SET shared.tokens = tokens, shared.cost = cost, shared.reserved_tokens = coalesce(shared.reserved_tokens, 0),
    shared.reserved_cost = coalesce(shared.reserved_cost, 0.0)
RETURN count(*) AS budgets
