// How many concerns of a student nobody has taken back; no row without such a student.
// mode: read
// scope: student
// params: institution: str, student_id: str
// returns: open: int
MATCH (student:Student {institution: $institution, id: $student_id})
RETURN COUNT { MATCH (concern:Concern {institution: $institution, student_id: $student_id})
               WHERE concern.id IS NOT NULL AND concern.corrected_at IS NULL } AS open
