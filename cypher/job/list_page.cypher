// A page of an institution's jobs, or of one student's, newest first, without their payloads.
// mode: read
// scope: institution
// params: institution: str, student_id: str, state: str, now: datetime, before_time: datetime, before_ref: str, limit: int
// returns: id: str, student_id: str, kind: str, state: str, attempts: int, error: str, created_at: datetime, run_after: datetime
CALL () {
  WITH $student_id AS student_id WHERE student_id IS NULL
  MATCH (job:Job {institution: $institution})
  USING INDEX job:Job(institution, created_at)
  WHERE job.created_at <= $before_time
    AND CASE WHEN job.created_at = $before_time THEN job.student_id + '/' + job.id > $before_ref ELSE true END
    AND ($state IS NULL OR $state = CASE WHEN job.state = 'waiting' AND job.lease_until > $now THEN 'running' ELSE job.state END)
  // Institution is the same in all: with it the order is that of the index, and a page reads no more.
  RETURN job ORDER BY job.institution DESC, job.created_at DESC, job.student_id + '/' + job.id LIMIT $limit
  UNION ALL
  WITH $student_id AS student_id WHERE student_id IS NOT NULL
  MATCH (job:Job {institution: $institution, student_id: student_id})
  USING INDEX job:Job(institution, student_id, created_at)
  WHERE job.created_at <= $before_time
    AND CASE WHEN job.created_at = $before_time THEN job.student_id + '/' + job.id > $before_ref ELSE true END
    AND ($state IS NULL OR $state = CASE WHEN job.state = 'waiting' AND job.lease_until > $now THEN 'running' ELSE job.state END)
  RETURN job ORDER BY job.institution DESC, job.student_id DESC, job.created_at DESC, job.student_id + '/' + job.id LIMIT $limit
}
RETURN job.id AS id, job.student_id AS student_id, job.kind AS kind,
       CASE WHEN job.state = 'waiting' AND job.lease_until > $now THEN 'running' ELSE job.state END AS state,
       job.attempts AS attempts, job.error AS error, job.created_at AS created_at, job.run_after AS run_after
ORDER BY created_at DESC, student_id + '/' + id
