CREATE CONSTRAINT usage_unique IF NOT EXISTS FOR (n:Usage) REQUIRE (n.institution, n.student_id, n.day, n.kind) IS UNIQUE
