// Take due notices of some institutions until some moment, with their subject: a concern or a dead job.
// mode: write
// scope: service
// params: institutions: list of str, until: datetime, now: datetime, limit: int
// returns: institution: str, student_id: str, id: str, attempts: int, concern: map, dead: map
MATCH (job:Job {state: 'waiting'})
WHERE job.run_after <= $now AND job.kind = 'notify' AND job.institution IN $institutions
WITH job ORDER BY job.run_after LIMIT $limit
// Writing to it locks the job, so that what another process has just taken is seen as such.
SET job.asked_at = $now
WITH job, job.run_after <= $now AND job.state = 'waiting' AS free
REMOVE job.asked_at
WITH job WHERE free
SET job.run_after = $until
WITH job
OPTIONAL MATCH (concern:Concern {institution: job.institution, student_id: job.student_id, id: job.subject})
WHERE concern.corrected_at IS NULL
OPTIONAL MATCH (dead:Job {institution: job.institution, student_id: job.student_id, id: job.subject, state: 'dead'})
RETURN job.institution AS institution, job.student_id AS student_id, job.id AS id, job.attempts AS attempts,
       concern {.id, .kind, .urgency, .about, .at} AS concern, dead {.id, .kind, .attempts} AS dead
