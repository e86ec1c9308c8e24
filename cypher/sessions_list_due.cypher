// Sessions that run and have a free job whose time has come, of any student.
// mode: read
// scope: service
// params: now: datetime, limit: int
// returns: token: bytes
MATCH (job:Job {state: 'waiting'})
WHERE job.run_after <= $now AND coalesce(job.lease_until <= $now, true)
MATCH (session:OpenSession {institution: job.institution, student_id: job.student_id})
WHERE session.expires_at > $now
RETURN DISTINCT session.token AS token
LIMIT $limit
