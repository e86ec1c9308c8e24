// Start a dead job again, as if it had never failed; one that is not dead stays as it is. The row says how it stands.
// mode: write
// scope: student
// params: institution: str, student_id: str, job_id: str, now: datetime
// returns: job: [id: str, student_id: str, kind: str, state: str, attempts: int, error: str, created_at: int in us, run_after: int in ms], retried: bool
MATCH (job:Job {institution: $institution, student_id: $student_id, id: $job_id})
// Writing the job locks it, so that it is started again once.
SET job.asked_at = $now
WITH job, job.state = 'dead' AS retried
CALL (job, retried) {
  WITH * WHERE retried
  SET job.state = 'waiting', job.attempts = 0, job.run_after = $now
  REMOVE job.error, job.lease, job.lease_until
}
REMOVE job.asked_at
RETURN [job.id, job.student_id, job.kind, job.state, job.attempts, job.error,
        job.created_at.epochSeconds * 1000000 + job.created_at.microsecond, job.run_after.epochMillis] AS job, retried
