// Jobs of all students, by kind and state.
// mode: read
// scope: service
// params:
// returns: kind: str, state: str, jobs: int
MATCH (job:Job)
RETURN job.kind AS kind, job.state AS state, count(*) AS jobs
