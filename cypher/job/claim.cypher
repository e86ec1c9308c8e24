// Lease a student's longest due jobs of some kinds to a worker, while the session runs.
// None where `alone` is wanted and somebody else holds a job of the student.
// mode: write, planned
// scope: student
// params: institution: str, student_id: str, session_id: str, kinds: list, limit: int, lease: str, lease_until: datetime, alone: bool, now: datetime
// returns: id: str, kind: str, attempts: int, payload: bytes, seq: int
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it, so that two workers never see the same job free.
SET student.jobs_at = $now
WITH student
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now
  AND NOT ($alone AND EXISTS {
    MATCH (held:Job {institution: $institution, student_id: $student_id, state: 'waiting'})
    WHERE held.lease_until > $now AND held.lease <> $lease
  })
MATCH (job:Job {institution: $institution, student_id: $student_id, state: 'waiting'})
WHERE job.kind IN $kinds AND job.run_after <= $now
  AND coalesce(job.lease_until <= $now, true)
WITH job ORDER BY job.created_at, job.run_after, job.id LIMIT $limit
SET job.lease = $lease, job.lease_until = $lease_until
RETURN job.id AS id, job.kind AS kind, job.attempts AS attempts, job.payload AS payload, job.seq AS seq
