// How long all jobs took from the first that was finished to the last.
MATCH (job:Job {institution: $institution, state: 'done'})
RETURN max(job.finished_at).epochMillis - min(job.finished_at).epochMillis AS ms
