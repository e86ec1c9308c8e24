// A student with its sealed keys, companion and running sessions.
// mode: read, planned
// scope: student
// params: institution: str, student_id: str, now: datetime
// returns: student: map, companion: map, session_ids: list of str
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (companion:Companion {institution: $institution, student_id: $student_id})
RETURN properties(student) AS student, companion {.tolerance, .expertise, .persona} AS companion,
       COLLECT { MATCH (session:OpenSession {institution: $institution, student_id: $student_id})
                 WHERE session.id IS NOT NULL AND session.expires_at > $now AND session.closing IS NULL
                 RETURN session.id ORDER BY session.opened_at, session.id } AS session_ids
