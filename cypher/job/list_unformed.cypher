// The newest waiting jobs of some kinds of a student, newest first, whoever holds them.
// mode: read
// scope: student
// params: institution: str, student_id: str, kinds: list, limit: int
// returns: id: str, kind: str, payload: bytes
MATCH (job:Job {institution: $institution, student_id: $student_id, state: 'waiting'})
WHERE job.kind IN $kinds
WITH job ORDER BY job.created_at DESC, job.id LIMIT $limit
RETURN job.id AS id, job.kind AS kind, job.payload AS payload
