// Delete jobs that were finished long ago, of any student, some at a time.
// mode: write
// scope: service
// params: before: datetime, notices_before: datetime, limit: int
// returns: deleted: int
MATCH (job:Job {state: 'done'})
// What was finished before was due before, too: that is what the index knows.
WHERE job.run_after <= $before AND job.finished_at <= $before
  // Notices tell that nothing more is to be said of a concern.
  AND (job.kind <> 'notify' OR job.created_at <= $notices_before)
WITH job LIMIT $limit
DETACH DELETE job
RETURN count(*) AS deleted
