// Whether a student of an id is enrolled, and the digest of the document that one was imported from.
// mode: read
// scope: student
// params: institution: str, student_id: str
// returns: digest: str
MATCH (student:Student {institution: $institution, id: $student_id})
RETURN coalesce(student.imported, '') AS digest
