MATCH (job:Job {institution: $institution}) WHERE job.state <> 'done' RETURN count(job) AS n
