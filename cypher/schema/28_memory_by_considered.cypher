CREATE INDEX memory_by_considered IF NOT EXISTS FOR (n:Memory) ON (n.institution, n.student_id, n.considered)
