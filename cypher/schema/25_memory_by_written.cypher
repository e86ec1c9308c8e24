CREATE INDEX memory_by_written IF NOT EXISTS FOR (n:Memory) ON (n.institution, n.student_id, n.written)
