// Set what a server secret makes of a student's public key and manifest, unless the manifest was written meanwhile.
// mode: write
// scope: student
// params: institution: str, student_id: str, public_key_seal: bytes, root_before: bytes, root: bytes
// returns: set: bool
MATCH (student:Student {institution: $institution, id: $student_id})
SET student.public_key_seal = $public_key_seal
WITH student WHERE student.manifest_root = $root_before
SET student.manifest_root = $root
RETURN true AS set
