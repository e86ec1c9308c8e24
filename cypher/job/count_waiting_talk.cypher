// Turns of a student whose jobs wait, of one kind: how many, and when the newest was written.
// mode: read
// scope: student
// params: institution: str, student_id: str, kind: str
// returns: turns: int, newest: datetime
MATCH (job:Job {institution: $institution, student_id: $student_id, state: 'waiting'})
WHERE job.kind = $kind
RETURN count(job) AS turns, max(job.created_at) AS newest
