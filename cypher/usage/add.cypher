// Add a language model's usage to the totals of a student and of the day, of the student and of all, and by prompt.
// mode: write
// scope: student
// params: institution: str, student_id: str, kind: str, usage: map, prompts: list of map, now: datetime
// returns: calls: int
MATCH (student:Student {institution: $institution, id: $student_id})
SET student.calls = student.calls + $usage.calls,
    student.input_tokens = student.input_tokens + $usage.input_tokens,
    student.output_tokens = student.output_tokens + $usage.output_tokens,
    student.cost = student.cost + $usage.cost
MERGE (own:StudentBudget {institution: $institution, student_id: $student_id, day: date($now)})
ON CREATE SET own.tokens = 0, own.cost = 0.0, own.reserved_tokens = 0, own.reserved_cost = 0.0
SET own.tokens = own.tokens + $usage.input_tokens + $usage.output_tokens, own.cost = own.cost + $usage.cost
MERGE (all:Budget {day: date($now)})
ON CREATE SET all.tokens = 0, all.cost = 0.0, all.reserved_tokens = 0, all.reserved_cost = 0.0
SET all.tokens = all.tokens + $usage.input_tokens + $usage.output_tokens, all.cost = all.cost + $usage.cost
WITH student
UNWIND $prompts AS asked
MERGE (usage:Usage {institution: $institution, student_id: $student_id, day: date($now), kind: $kind, prompt: asked.prompt})
ON CREATE SET usage.calls = 0, usage.input_tokens = 0, usage.output_tokens = 0, usage.cost = 0.0
SET usage.calls = usage.calls + asked.calls,
    usage.input_tokens = usage.input_tokens + asked.input_tokens,
    usage.output_tokens = usage.output_tokens + asked.output_tokens,
    usage.cost = usage.cost + asked.cost
RETURN sum(usage.calls) AS calls
