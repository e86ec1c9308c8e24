// Delete jobs that were finished long ago, of any student, some at a time.
// mode: write
// scope: service
// params: before: datetime, limit: int
// returns: deleted: int
MATCH (job:Job {state: 'done'})
// What was finished before was due before, too: that is what the index knows.
WHERE job.run_after <= $before AND job.finished_at <= $before
WITH job LIMIT $limit
DETACH DELETE job
RETURN count(*) AS deleted
