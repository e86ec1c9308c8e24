// Lock a student, check what some changes were decided on, and finish the job that they come from.
// No row when the job is another worker's by now; `current` false, and nothing is changed, when memories changed since they were read.
// mode: write, planned
// scope: student
// params: institution: str, student_id: str, job_id: str, lease: str, known: int, turns: bool, now: datetime
// returns: current: bool, written: int, version: int, facts: int
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it, so that the versions read below are the newest.
SET student.jobs_at = $now
WITH student
OPTIONAL MATCH (job:Job {institution: $institution, student_id: $student_id, id: $job_id})
WHERE job.lease = $lease
WITH student, job WHERE $job_id IS NULL OR job IS NOT NULL
WITH student, job, coalesce(student.memory_version = $known, true) AS current
CALL (student, job, current) {
  WITH * WHERE current
  SET student.memory_version = student.memory_version + 1,
      student.version = student.version + CASE WHEN $turns THEN 1 ELSE 0 END,
      job.state = 'done', job.finished_at = $now
  REMOVE job.lease, job.lease_until, job.payload, job.error
}
RETURN current, student.memory_version AS written, student.version AS version, student.facts AS facts
