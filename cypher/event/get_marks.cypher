// Marks by which changes of a student's memories are noticed: versions and counts. Nothing when the session has ended.
// mode: read
// scope: student
// params: institution: str, student_id: str, session_id: str, now: datetime
// returns: written: int, removed: int, compressions: int, concerns: int
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now
RETURN student.memory_version AS written, student.memories_removed AS removed,
       COUNT { (student)-[:COMPRESSED]->(:Compression) } AS compressions,
       COUNT { (student)-[:SHOWS]->(:Concern) } AS concerns
