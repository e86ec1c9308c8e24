// Set a student's public key, and the server's seal of it.
// mode: write
// scope: student
// params: institution: str, student_id: str, public_key: bytes, public_key_seal: bytes
// returns: set: bool, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
SET student.public_key = $public_key, student.public_key_seal = $public_key_seal
RETURN true AS set,
       [{label: 'Student', id: 'student', set: ['public_key']}] AS touched
