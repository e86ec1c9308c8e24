// A page of the sessions that run and have a job of some kinds whose time has come, of any student, by id.
// Left out are students of whom somebody runs a job at this moment.
// mode: read
// scope: service
// params: after: str, kinds: list, now: datetime, limit: int
// returns: id: str, institution: str, student_id: str, token: bytes
// From open sessions: jobs of locked students may be very many, and wait.
MATCH (session:OpenSession)
WHERE session.expires_at > $now AND session.id > $after
  AND EXISTS {
    MATCH (job:Job {institution: session.institution, student_id: session.student_id, state: 'waiting'})
    WHERE job.run_after <= $now AND job.kind IN $kinds
  }
  AND NOT EXISTS {
    MATCH (held:Job {institution: session.institution, student_id: session.student_id, state: 'waiting'})
    WHERE held.lease_until > $now
  }
RETURN session.id AS id, session.institution AS institution, session.student_id AS student_id, session.token AS token
ORDER BY id LIMIT $limit
