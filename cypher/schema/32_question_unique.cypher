CREATE CONSTRAINT question_unique IF NOT EXISTS FOR (n:Question) REQUIRE (n.institution, n.student_id, n.id) IS UNIQUE
