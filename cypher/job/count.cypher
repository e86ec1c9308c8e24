// Number of an institution's jobs, or of one student's, in one state or in any.
// mode: read
// scope: institution
// params: institution: str, student_id: str, state: str, now: datetime
// returns: total: int
MATCH (job:Job {institution: $institution})
// The first condition alone can be found in the index.
WHERE job.student_id STARTS WITH coalesce($student_id, '') AND coalesce(job.student_id = $student_id, true)
  AND job.state IS NOT NULL
  AND ($state IS NULL OR $state = CASE WHEN job.state = 'waiting' AND job.lease_until > $now THEN 'running' ELSE job.state END)
RETURN count(job) AS total
