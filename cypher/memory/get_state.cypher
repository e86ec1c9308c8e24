// Version of a student's memories, the version that last removed some, the sealed name, the companion's tolerance.
// Nothing when the session has ended.
// mode: read
// scope: student
// params: institution: str, student_id: str, session_id: str, now: datetime
// returns: version: int, removed: int, name: bytes, tolerance: float
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now
MATCH (companion:Companion {institution: $institution, student_id: $student_id})
RETURN student.memory_version AS version, student.memories_removed AS removed,
       student.display_name AS name, companion.tolerance AS tolerance
