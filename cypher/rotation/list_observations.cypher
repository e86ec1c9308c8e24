// The jobs of a student that form what was observed and have not been done.
// mode: read
// scope: student
// params: institution: str, student_id: str, kinds: list of str
// returns: element: str
MATCH (job:Job {institution: $institution, student_id: $student_id})
WHERE job.id IS NOT NULL AND job.kind IN $kinds AND job.payload IS NOT NULL
RETURN elementId(job) AS element
