// Forget which sealed values of a student did not open.
// mode: write
// scope: student
// params: institution: str, student_id: str
// returns: forgotten: int
MATCH (noticed:TamperedValue {institution: $institution, student_id: $student_id})
DELETE noticed
RETURN count(*) AS forgotten
