// Give students of a schema without memories the versions that memories need.
// mode: write
// scope: service
// params:
// returns: students: int
MATCH (student:Student) WHERE student.memory_version IS NULL
SET student.memory_version = 0, student.memories_removed = 0
RETURN count(student) AS students
