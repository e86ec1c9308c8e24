// End an erasure, after which somebody of this id may be enrolled again.
// mode: write
// scope: student
// params: institution: str, student_id: str
// returns: ended: bool
MATCH (erasure:Erasure {institution: $institution, student_id: $student_id})
DELETE erasure
RETURN true AS ended
