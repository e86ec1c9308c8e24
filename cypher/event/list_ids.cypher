// Ids of all memories and of all concerns of a student.
// mode: read
// scope: student
// params: institution: str, student_id: str
// returns: memories: list of str, concerns: list of str
RETURN COLLECT { MATCH (memory:Memory {institution: $institution, student_id: $student_id})
                 WHERE memory.id IS NOT NULL RETURN memory.id } AS memories,
       COLLECT { MATCH (concern:Concern {institution: $institution, student_id: $student_id})
                 WHERE concern.id IS NOT NULL RETURN concern.id } AS concerns
