// Give a worker the student's longest due job of a kind, if one is free and the session runs, for the time of a lease.
// mode: write
// scope: student
// params: institution: str, student_id: str, session_id: str, kind: str, lease: str, lease_until: datetime, now: datetime
// returns: id: str, attempts: int, payload: bytes
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it, so that two workers never see the same job free.
SET student.jobs_at = $now
WITH student
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now
MATCH (job:Job {institution: $institution, student_id: $student_id})
WHERE job.state = 'waiting' AND job.kind = $kind AND job.run_after <= $now
  AND coalesce(job.lease_until <= $now, true)
WITH job ORDER BY job.run_after, job.created_at LIMIT 1
SET job.lease = $lease, job.lease_until = $lease_until
RETURN job.id AS id, job.attempts AS attempts, job.payload AS payload
