// Number of a student's sources and turns.
// mode: read
// scope: student
// params: institution: str, student_id: str
// returns: sources: int, turns: int
MATCH (student:Student {institution: $institution, id: $student_id})
RETURN COUNT { (source:Source {institution: $institution, student_id: $student_id})
               WHERE source.kind IS NOT NULL AND source.ref IS NOT NULL } AS sources, student.turns AS turns
