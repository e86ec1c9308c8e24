// Note the elements that a write touched, sealed with the server secret.
// mode: write, planned
// scope: student
// params: institution: str, student_id: str, manifest_note_id: str, manifest_note: bytes
// returns: 
MATCH (:Student {institution: $institution, id: $student_id})
CREATE (:ManifestNote {institution: $institution, student_id: $student_id, id: $manifest_note_id, content: $manifest_note})
