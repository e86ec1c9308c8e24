// Version of a student's memories, and the version that last removed some.
// Nothing when the session has ended.
// mode: read
// scope: student
// params: institution: str, student_id: str, session_id: str, now: datetime
// returns: version: int, removed: int
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now
RETURN student.memory_version AS version, student.memories_removed AS removed
