// A page of an institution's jobs, or of one student's, newest first, without what they are about.
// mode: read
// scope: institution
// params: institution: str, student_id: str, state: str, now: datetime, before_time: int in us, before_id: str, limit: int
// returns: total: int, jobs: list of [id: str, student_id: str, kind: str, state: str, attempts: int, error: str, created_at: int in us, run_after: int in ms]
CALL () {
  MATCH (job:Job {institution: $institution})
  // The first condition alone can be found in the index.
  WHERE job.student_id STARTS WITH coalesce($student_id, '') AND coalesce(job.student_id = $student_id, true)
    AND job.state IS NOT NULL
  WITH job, CASE WHEN job.state = 'waiting' AND job.lease_until > $now THEN 'running' ELSE job.state END AS state,
       job.created_at.epochSeconds * 1000000 + job.created_at.microsecond AS created_at
  WHERE $state IS NULL OR state = $state
  RETURN job, state, created_at, job.student_id + '/' + job.id AS id
}
WITH collect({job: job, state: state, created_at: created_at, id: id}) AS fitting
CALL (fitting) {
  UNWIND fitting AS found
  WITH found.job AS job, found.state AS state, found.created_at AS created_at, found.id AS id
  WHERE $before_time IS NULL OR created_at < $before_time OR (created_at = $before_time AND id > $before_id)
  WITH job, state, created_at, id ORDER BY created_at DESC, id LIMIT $limit
  RETURN collect([job.id, job.student_id, job.kind, state, job.attempts, job.error, created_at, job.run_after.epochMillis]) AS jobs
}
RETURN size(fitting) AS total, jobs
