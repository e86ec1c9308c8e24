// Up to which version a student's memories are written, when some were last removed, and the names they speak of.
// Nothing when the session has ended.
// mode: read
// scope: student
// params: institution: str, student_id: str, session_id: str, since: int, now: datetime
// returns: version: int, removed: int, entities: list of [id: str, name: bytes]
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now
OPTIONAL MATCH (entity:Entity {institution: $institution, student_id: $student_id})
WHERE entity.written > $since
RETURN student.memory_version AS version, student.memories_removed AS removed,
       collect(CASE WHEN entity IS NULL THEN NULL ELSE [entity.id, entity.name] END) AS entities
