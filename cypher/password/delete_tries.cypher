// Delete the wrong tries after a right password.
// mode: write
// scope: student
// params: institution: str, student_id: str
// returns:
MATCH (try:PasswordTry {institution: $institution, student_id: $student_id})
DELETE try
