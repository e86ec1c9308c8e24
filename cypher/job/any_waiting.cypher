// Existence of a waiting job of a student.
// mode: read
// scope: student
// params: institution: str, student_id: str
// returns: waits: bool
RETURN EXISTS { (:Job {institution: $institution, student_id: $student_id, state: 'waiting'}) } AS waits
