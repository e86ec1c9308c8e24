CREATE CONSTRAINT entity_unique IF NOT EXISTS FOR (n:Entity) REQUIRE (n.institution, n.student_id, n.key) IS UNIQUE
