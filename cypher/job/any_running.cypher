// Whether somebody runs a job of a student at this moment.
// mode: read
// scope: student
// params: institution: str, student_id: str, now: datetime
// returns: runs: bool
RETURN EXISTS {
  MATCH (job:Job {institution: $institution, student_id: $student_id, state: 'waiting'})
  WHERE job.lease_until > $now
} AS runs
