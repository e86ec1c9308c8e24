CREATE CONSTRAINT fact_unique IF NOT EXISTS FOR (n:Fact) REQUIRE (n.institution, n.student_id, n.id) IS UNIQUE
