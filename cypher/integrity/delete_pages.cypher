// Delete pages of a manifest by their numbers.
// mode: write
// scope: student
// params: institution: str, student_id: str, numbers: list of int
// returns: deleted: int
UNWIND $numbers AS number
MATCH (page:ManifestPage {institution: $institution, student_id: $student_id, number: number})
DELETE page
RETURN count(*) AS deleted
