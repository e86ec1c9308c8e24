// Give memories that exist another statement: what was so is put into the past, or back.
// mode: write
// scope: student
// params: institution: str, student_id: str, memories: list, written: int
// returns: memories: int
UNWIND $memories AS each
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: each.id})
USING INDEX memory:Memory(institution, student_id, id)
SET memory.content = each.content, memory.details = each.details, memory.written = $written
RETURN count(memory) AS memories
