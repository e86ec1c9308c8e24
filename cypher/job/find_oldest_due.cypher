// Time since when the oldest runnable job of some kinds waits, of any student whose session runs.
// mode: read
// scope: service
// params: kinds: list, now: datetime
// returns: since: datetime
MATCH (session:OpenSession)
WHERE session.expires_at > $now
MATCH (job:Job {institution: session.institution, student_id: session.student_id, state: 'waiting'})
WHERE job.kind IN $kinds AND job.run_after <= $now
// What was noted while the student was locked could be done only from then on.
WITH CASE WHEN session.opened_at > job.run_after THEN session.opened_at ELSE job.run_after END AS since
RETURN since ORDER BY since LIMIT 1
