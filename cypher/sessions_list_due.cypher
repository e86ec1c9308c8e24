// A page of the sessions that run and have a free job whose time has come, of any student, by id.
// mode: read
// scope: service
// params: after: str, now: datetime, limit: int
// returns: id: str, token: bytes
MATCH (job:Job {state: 'waiting'})
WHERE job.run_after <= $now AND coalesce(job.lease_until <= $now, true)
MATCH (session:OpenSession {institution: job.institution, student_id: job.student_id})
WHERE session.expires_at > $now AND session.id > $after
RETURN DISTINCT session.id AS id, session.token AS token
ORDER BY id LIMIT $limit
