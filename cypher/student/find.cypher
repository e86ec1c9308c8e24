// A student with its sealed keys, companion and running session.
// mode: read
// scope: student
// params: institution: str, student_id: str, now: datetime
// returns: student: map, companion: map, session_id: str
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (companion:Companion {institution: $institution, student_id: $student_id})
OPTIONAL MATCH (session:OpenSession {institution: $institution, student_id: $student_id})
WHERE session.expires_at > $now
RETURN properties(student) AS student, companion {.tolerance, .expertise, .persona} AS companion, session.id AS session_id
