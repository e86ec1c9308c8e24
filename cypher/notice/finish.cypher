// Finish a notice, leave it for later, or mark it dead.
// mode: write
// scope: student
// params: institution: str, student_id: str, id: str, state: str, attempts: int, run_after: datetime, error: str, now: datetime
// returns: state: str
MATCH (job:Job {institution: $institution, student_id: $student_id, id: $id})
WHERE job.kind = 'notify' AND job.state = 'waiting'
SET job.state = $state, job.attempts = $attempts, job.run_after = $run_after, job.error = $error,
    job.finished_at = CASE WHEN $state = 'done' THEN $now END
RETURN job.state AS state
