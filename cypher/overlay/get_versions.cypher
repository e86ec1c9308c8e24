// Versions of the institution's world and of a student's overlay; 0 where nobody has changed them yet.
// mode: read, planned
// scope: student
// params: institution: str, student_id: str
// returns: world: int, overlay: int
MATCH (student:Student {institution: $institution, id: $student_id})
OPTIONAL MATCH (world:World {institution: $institution})
RETURN coalesce(world.version, 0) AS world, coalesce(student.overlay_version, 0) AS overlay
