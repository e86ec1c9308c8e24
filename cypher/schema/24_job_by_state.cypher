CREATE INDEX job_by_state IF NOT EXISTS FOR (n:Job) ON (n.state, n.run_after)
