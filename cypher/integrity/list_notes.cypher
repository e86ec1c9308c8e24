// The root of a manifest with the notes that were not taken in yet.
// mode: read, planned
// scope: student
// params: institution: str, student_id: str, limit: int
// returns: root: bytes, notes: list of [id: str, content: bytes or null]
MATCH (student:Student {institution: $institution, id: $student_id})
RETURN student.manifest_root AS root,
       COLLECT { MATCH (note:ManifestNote {institution: $institution, student_id: $student_id})
                 RETURN [note.id, note.content] LIMIT $limit } AS notes
