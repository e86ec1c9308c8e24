// Usage of language models by an institution, or by one of its students, from a day on, by kind and prompt.
// mode: read
// scope: institution
// params: institution: str, student_id: str, since: datetime
// returns: kind: str, prompt: str or null, calls: int, input_tokens: int, output_tokens: int, cost: float
MATCH (usage:Usage {institution: $institution})
// The first condition alone can be found in the index.
WHERE usage.student_id STARTS WITH coalesce($student_id, '') AND coalesce(usage.student_id = $student_id, true)
  AND usage.day IS NOT NULL AND usage.kind <> 'reserved'
  AND ($since IS NULL OR usage.day >= date($since))
RETURN usage.kind AS kind, usage.prompt AS prompt, sum(usage.calls) AS calls, sum(usage.input_tokens) AS input_tokens,
       sum(usage.output_tokens) AS output_tokens, sum(usage.cost) AS cost
ORDER BY kind, prompt
