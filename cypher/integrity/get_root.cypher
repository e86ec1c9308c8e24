// The root of a manifest, and how many notes were not taken in yet.
// mode: read, planned
// scope: student
// params: institution: str, student_id: str
// returns: root: bytes, notes: int
MATCH (student:Student {institution: $institution, id: $student_id})
RETURN student.manifest_root AS root,
       COUNT { MATCH (note:ManifestNote {institution: $institution, student_id: $student_id}) } AS notes
