// Who is at a job right now.
MATCH (job:Job {institution: $institution, state: 'waiting'}) WHERE job.lease IS NOT NULL
RETURN DISTINCT job.lease AS lease
