CREATE INDEX job_by_student IF NOT EXISTS FOR (n:Job) ON (n.institution, n.student_id, n.state)
