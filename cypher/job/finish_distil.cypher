// Replace the wording of a fact, where it still exists, and finish the job that asked for it.
// Nothing when another worker has taken the job over, or when this was written before.
// mode: write
// scope: student
// params: institution: str, student_id: str, job_id: str, lease: str, fact_id: str, text: bytes, tags: bytes, now: datetime
// returns: version: int
MATCH (student:Student {institution: $institution, id: $student_id})
// Counting the version up locks the student, and tells every replica that what it holds is stale.
SET student.version = student.version + 1
WITH student
MATCH (job:Job {institution: $institution, student_id: $student_id, id: $job_id})
WHERE job.lease = $lease
SET job.state = 'done', job.finished_at = $now
REMOVE job.lease, job.lease_until, job.payload, job.error
WITH student
OPTIONAL MATCH (fact:Fact {institution: $institution, student_id: $student_id, id: $fact_id})
SET fact.text = $text, fact.tags = $tags
RETURN student.version AS version
