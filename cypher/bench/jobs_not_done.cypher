// How many jobs are left.
MATCH (job:Job {institution: $institution}) WHERE job.state <> 'done' RETURN count(job) AS n
