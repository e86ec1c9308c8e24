// Restart a dead job of one of some kinds with all its attempts; another stays as it is.
// mode: write
// scope: student
// params: institution: str, student_id: str, job_id: str, kinds: list, now: datetime
// returns: id: str, student_id: str, kind: str, state: str, attempts: int, error: str, created_at: datetime, run_after: datetime, retried: bool
MATCH (job:Job {institution: $institution, student_id: $student_id, id: $job_id})
// Writing the job locks it, so that it is started again once.
SET job.asked_at = $now
WITH job, job.state = 'dead' AND job.kind IN $kinds AS retried
CALL (job, retried) {
  WITH * WHERE retried
  SET job.state = 'waiting', job.attempts = 0, job.run_after = $now
  REMOVE job.error, job.lease, job.lease_until
}
REMOVE job.asked_at
RETURN job.id AS id, job.student_id AS student_id, job.kind AS kind, job.state AS state, job.attempts AS attempts,
       job.error AS error, job.created_at AS created_at, job.run_after AS run_after, retried
