// A page of the open sessions that have a due job of some kinds, one of each student, by id.
// Left out are students of whom a worker runs a job at this moment.
// mode: read
// scope: service
// params: after: str, kinds: list, now: datetime, limit: int
// returns: id: str, institution: str, student_id: str, token: bytes
// From open sessions: jobs of locked students may be very many, and wait.
MATCH (session:OpenSession)
WHERE session.expires_at > $now AND session.id > $after
  AND NOT EXISTS {
    MATCH (other:OpenSession {institution: session.institution, student_id: session.student_id})
    WHERE other.id < session.id AND other.expires_at > $now
  }
  AND EXISTS {
    MATCH (job:Job {institution: session.institution, student_id: session.student_id, state: 'waiting'})
    USING INDEX job:Job(institution, student_id, state)
    WHERE job.run_after <= $now AND job.kind IN $kinds AND coalesce(job.lease_until <= $now, true)
  }
  AND NOT EXISTS {
    MATCH (held:Job {institution: session.institution, student_id: session.student_id, state: 'waiting'})
    WHERE held.lease_until > $now
  }
RETURN session.id AS id, session.institution AS institution, session.student_id AS student_id, session.token AS token
ORDER BY id LIMIT $limit
