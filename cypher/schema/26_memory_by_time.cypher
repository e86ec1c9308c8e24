CREATE INDEX memory_by_time IF NOT EXISTS FOR (n:Memory) ON (n.institution, n.student_id, n.timestamp)
