CREATE CONSTRAINT memory_content_unique IF NOT EXISTS FOR (n:Memory) REQUIRE (n.institution, n.student_id, n.content_hash) IS UNIQUE
