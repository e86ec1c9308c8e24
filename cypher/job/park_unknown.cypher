// Mark the waiting jobs of any other than some kinds as dead, of all students.
// mode: write
// scope: service
// params: kinds: list, error: str
// returns: parked: int
MATCH (job:Job {state: 'waiting'})
WHERE NOT job.kind IN $kinds
SET job.state = 'dead', job.error = $error
REMOVE job.lease, job.lease_until
RETURN count(job) AS parked
