// A page of students, by institution and id, with notes that were not taken in yet.
// mode: read
// scope: service
// params: after_institution: str, after_id: str, limit: int
// returns: institution: str, student_id: str
MATCH (note:ManifestNote)
WHERE note.institution >= $after_institution
  AND CASE WHEN note.institution = $after_institution THEN note.student_id > $after_id ELSE true END
RETURN DISTINCT note.institution AS institution, note.student_id AS student_id
ORDER BY institution, student_id LIMIT $limit
