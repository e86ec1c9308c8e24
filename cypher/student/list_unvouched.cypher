// Some students of any institution whose public key no server has vouched for.
// mode: read
// scope: service
// params: limit: int
// returns: institution: str, student_id: str
MATCH (student:Student) WHERE student.public_key_seal IS NULL
RETURN student.institution AS institution, student.id AS student_id LIMIT $limit
