CREATE INDEX fact_by_seq IF NOT EXISTS FOR (n:Fact) ON (n.institution, n.student_id, n.seq)
