CREATE CONSTRAINT reflection_unique IF NOT EXISTS FOR (n:Reflection) REQUIRE (n.institution, n.student_id, n.id) IS UNIQUE
