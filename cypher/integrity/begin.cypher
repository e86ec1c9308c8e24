// Lock a student and read the root of its manifest with the notes that were not taken in yet.
// mode: write
// scope: student
// params: institution: str, student_id: str, now: datetime, limit: int
// returns: root: bytes, notes: list of [id: str, content: bytes]
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it.
SET student.jobs_at = coalesce(student.jobs_at, $now)
RETURN student.manifest_root AS root,
       COLLECT { MATCH (note:ManifestNote {institution: $institution, student_id: $student_id})
                 RETURN [note.id, note.content] LIMIT $limit } AS notes
