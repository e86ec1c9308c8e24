// Postpone a failed job, or mark it dead; no row when another worker has taken it over.
// mode: write
// scope: student
// params: institution: str, student_id: str, job_id: str, lease: str, failure: map, now: datetime
// returns: state: str
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it, so that nobody takes the job over meanwhile.
SET student.jobs_at = $now
WITH student
MATCH (job:Job {institution: $institution, student_id: $student_id, id: $job_id})
WHERE job.lease = $lease
SET job += $failure
REMOVE job.lease, job.lease_until
RETURN job.state AS state
