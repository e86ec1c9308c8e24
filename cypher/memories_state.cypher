// Up to which version a student's memories are written, when some were last removed, and the names they speak of.
// Nothing when the session has ended.
// mode: read
// scope: student
// params: institution: str, student_id: str, session_id: str, since: int, now: datetime
// returns: version: int, removed: int, entities: list of [id: str, name: bytes]
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now
// Read once, before the names: read beside each of them it could differ while somebody writes.
WITH student.memory_version AS version, student.memories_removed AS removed
CALL () {
  MATCH (entity:Entity {institution: $institution, student_id: $student_id})
  WHERE entity.written > $since
  RETURN collect([entity.id, entity.name]) AS entities
}
RETURN version, removed, entities
