// State of a student's memories: versions and counts.
// Versions of the student, of the memories, of what lies in the fog and of the last removal of memories; how many turns
// there were, the sealed name, the companion's tolerance.
// Nothing when the session has ended.
// mode: read, planned
// scope: student
// params: institution: str, student_id: str, session_id: str, now: datetime
// returns: memory_version: int, memories_removed: int, turns: int, version: int, world: int, overlay_version: int, name: bytes, tolerance: float
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now
MATCH (companion:Companion {institution: $institution, student_id: $student_id})
OPTIONAL MATCH (world:World {institution: $institution})
RETURN student.memory_version AS memory_version, student.memories_removed AS memories_removed, student.turns AS turns,
       student.version AS version, coalesce(world.version, 0) AS world,
       coalesce(student.overlay_version, 0) AS overlay_version, student.display_name AS name, companion.tolerance AS tolerance
