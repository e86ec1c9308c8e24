// Leave a job that failed for later, or for good when it has failed too often; nothing when another worker has taken it over.
// mode: write
// scope: student
// params: institution: str, student_id: str, job_id: str, lease: str, state: str, attempts: int, run_after: datetime, error: str, usage: map, now: datetime
// returns: state: str
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it, so that nobody takes the job over meanwhile.
SET student.jobs_at = $now
WITH student
MATCH (job:Job {institution: $institution, student_id: $student_id, id: $job_id})
WHERE job.lease = $lease
SET job.state = $state, job.attempts = $attempts, job.run_after = $run_after, job.error = $error
REMOVE job.lease, job.lease_until
SET student.calls = student.calls + $usage.calls,
    student.input_tokens = student.input_tokens + $usage.input_tokens,
    student.output_tokens = student.output_tokens + $usage.output_tokens,
    student.cost = student.cost + $usage.cost
FOREACH (_ IN CASE WHEN $usage.calls > 0 THEN [1] ELSE [] END |
  MERGE (usage:Usage {institution: $institution, student_id: $student_id, day: date($now), kind: job.kind})
  ON CREATE SET usage.calls = 0, usage.input_tokens = 0, usage.output_tokens = 0, usage.cost = 0.0
  SET usage.calls = usage.calls + $usage.calls,
      usage.input_tokens = usage.input_tokens + $usage.input_tokens,
      usage.output_tokens = usage.output_tokens + $usage.output_tokens,
      usage.cost = usage.cost + $usage.cost
)
RETURN job.state AS state
