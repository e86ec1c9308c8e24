// Set the sealed details of memories that exist.
// mode: write
// scope: student
// params: institution: str, student_id: str, memories: list
// returns: memories: int
MATCH (student:Student {institution: $institution, id: $student_id})
// A counted version tells every replica that what it holds is stale.
SET student.memory_version = student.memory_version + 1
WITH student
UNWIND $memories AS each
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: each.id})
USING INDEX memory:Memory(institution, student_id, id)
SET memory.details = each.details, memory.written = student.memory_version
RETURN count(memory) AS memories
