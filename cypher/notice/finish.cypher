// Finish a notice, leave it for later, or mark it dead.
// mode: write
// scope: student
// params: institution: str, student_id: str, id: str, outcome: map, now: datetime
// returns: state: str
MATCH (job:Job {institution: $institution, student_id: $student_id, id: $id})
WHERE job.kind = 'notify' AND job.state = 'waiting'
SET job += $outcome, job.finished_at = CASE WHEN $outcome.state = 'done' THEN $now END
RETURN job.state AS state
