CREATE CONSTRAINT open_session_unique IF NOT EXISTS FOR (n:OpenSession) REQUIRE (n.institution, n.student_id) IS UNIQUE
