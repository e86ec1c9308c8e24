// Ids, of some, that are jobs of a student, done or not.
// mode: read
// scope: student
// params: institution: str, student_id: str, ids: list of str
// returns: id: str
UNWIND $ids AS id
MATCH (job:Job {institution: $institution, student_id: $student_id, id: id})
RETURN job.id AS id
