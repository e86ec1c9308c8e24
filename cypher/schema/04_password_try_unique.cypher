CREATE CONSTRAINT password_try_unique IF NOT EXISTS FOR (n:PasswordTry) REQUIRE (n.institution, n.student_id) IS UNIQUE
