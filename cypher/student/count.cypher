// Number of a student's memories and waiting jobs.
// mode: read
// scope: student
// params: institution: str, student_id: str
// returns: memories: int, waiting_jobs: int
RETURN COUNT { (memory:Memory {institution: $institution, student_id: $student_id}) WHERE memory.id IS NOT NULL } AS memories,
       COUNT { (:Job {institution: $institution, student_id: $student_id, state: 'waiting'}) } AS waiting_jobs
