CREATE INDEX turn_by_seq IF NOT EXISTS FOR (n:Turn) ON (n.institution, n.student_id, n.seq)
