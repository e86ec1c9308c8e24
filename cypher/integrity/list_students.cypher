// A page of students by institution and id, with what a server secret made for them.
// mode: read
// scope: service
// params: after_institution: str, after_id: str, limit: int
// returns: institution: str, student_id: str, public_key: bytes, public_key_seal: bytes, root: bytes, sealing: str
MATCH (student:Student)
WHERE student.institution >= $after_institution
  AND CASE WHEN student.institution = $after_institution THEN student.id > $after_id ELSE true END
RETURN student.institution AS institution, student.id AS student_id, student.public_key AS public_key,
       student.public_key_seal AS public_key_seal, student.manifest_root AS root, student.sealing AS sealing
ORDER BY institution, student_id LIMIT $limit
