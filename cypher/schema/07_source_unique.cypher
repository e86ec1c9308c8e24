CREATE CONSTRAINT source_unique IF NOT EXISTS FOR (n:Source) REQUIRE (n.institution, n.student_id, n.kind, n.ref) IS UNIQUE
