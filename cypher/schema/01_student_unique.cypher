CREATE CONSTRAINT student_unique IF NOT EXISTS FOR (n:Student) REQUIRE (n.institution, n.id) IS UNIQUE
