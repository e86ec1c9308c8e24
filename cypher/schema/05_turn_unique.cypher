CREATE CONSTRAINT turn_unique IF NOT EXISTS FOR (n:Turn) REQUIRE (n.institution, n.student_id, n.id) IS UNIQUE
