CREATE CONSTRAINT memory_unique IF NOT EXISTS FOR (n:Memory) REQUIRE (n.institution, n.student_id, n.id) IS UNIQUE
