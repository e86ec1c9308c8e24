CREATE CONSTRAINT companion_unique IF NOT EXISTS FOR (n:Companion) REQUIRE (n.institution, n.student_id) IS UNIQUE
