CREATE CONSTRAINT job_unique IF NOT EXISTS FOR (n:Job) REQUIRE (n.institution, n.student_id, n.id) IS UNIQUE
