// A page of the students of all institutions, by institution and id.
// mode: read
// scope: service
// params: after_institution: str, after_id: str, limit: int
// returns: institution: str, student_id: str
MATCH (student:Student)
WHERE student.institution > $after_institution
   OR (student.institution = $after_institution AND student.id > $after_id)
RETURN student.institution AS institution, student.id AS student_id
ORDER BY institution, student_id LIMIT $limit
