// Release the leases of a worker on jobs that it will not run.
// mode: write
// scope: student
// params: institution: str, student_id: str, lease: str, now: datetime
// returns: released: int
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it, so that nobody takes a job over meanwhile.
SET student.jobs_at = $now
WITH student
MATCH (job:Job {institution: $institution, student_id: $student_id, state: 'waiting'})
WHERE job.lease = $lease
REMOVE job.lease, job.lease_until
RETURN count(job) AS released
