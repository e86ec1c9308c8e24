// Forget which sealed values of a student did not open.
// mode: write
// scope: student
// params: institution: str, student_id: str
// returns: forgotten: int
MATCH (noticed:TamperedValue {institution: $institution, student_id: $student_id})
WHERE noticed.label IS NOT NULL AND noticed.node_id IS NOT NULL AND noticed.field IS NOT NULL
DELETE noticed
RETURN count(*) AS forgotten
