// Some students of any institution with notes that were not taken in yet.
// mode: read
// scope: service
// params: limit: int
// returns: institution: str, student_id: str
MATCH (note:ManifestNote) WHERE note.institution IS NOT NULL
RETURN DISTINCT note.institution AS institution, note.student_id AS student_id LIMIT $limit
