// Existence of a job of a student that a worker holds a lease on.
// mode: read, planned
// scope: student
// params: institution: str, student_id: str, now: datetime
// returns: runs: bool
RETURN EXISTS {
  MATCH (job:Job {institution: $institution, student_id: $student_id, state: 'waiting'})
  WHERE job.lease_until > $now
} AS runs
