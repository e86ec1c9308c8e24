// One concern of a student.
// mode: read
// scope: student
// params: institution: str, student_id: str, id: str
// returns: concern: map
MATCH (concern:Concern {institution: $institution, student_id: $student_id, id: $id})
RETURN concern {.id, .kind, .urgency, .about, .at, .level, .corrected_at} AS concern
