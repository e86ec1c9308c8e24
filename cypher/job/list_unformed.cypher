// The newest waiting jobs of some kinds of a student, newest first, whoever holds them; payloads of those not held.
// mode: read, planned
// scope: student
// params: institution: str, student_id: str, kinds: list, held: list, limit: int
// returns: jobs: list of [id: str, kind: str, payload: bytes or null]
MATCH (job:Job {institution: $institution, student_id: $student_id, state: 'waiting'})
WHERE job.kind IN $kinds
WITH job ORDER BY job.created_at DESC, job.id LIMIT $limit
RETURN collect([job.id, job.kind, CASE WHEN job.id IN $held THEN null ELSE job.payload END]) AS jobs
