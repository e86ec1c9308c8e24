// Set the server's seal of a student's public key.
// mode: write
// scope: student
// params: institution: str, student_id: str, public_key_seal: bytes
// returns: set: bool
MATCH (student:Student {institution: $institution, id: $student_id})
SET student.public_key_seal = $public_key_seal
RETURN true AS set
