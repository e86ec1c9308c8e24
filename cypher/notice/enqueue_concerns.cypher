// Add a job for each recent concern of some institutions that none was made of yet, and that nobody has taken back.
// mode: write
// scope: service
// params: institutions: list of str, since: datetime, now: datetime, limit: int
// returns: added: int
MATCH (concern:Concern)
WHERE concern.institution IN $institutions AND concern.at >= $since AND concern.corrected_at IS NULL
  AND NOT EXISTS { (:Job {institution: concern.institution, student_id: concern.student_id, id: 'notify-' + concern.id}) }
WITH concern LIMIT $limit
MATCH (student:Student {institution: concern.institution, id: concern.student_id})
// Writing the student locks it, so that nothing is added while the student is erased.
SET student.jobs_at = coalesce(student.jobs_at, $now)
MERGE (job:Job {institution: concern.institution, student_id: concern.student_id, id: 'notify-' + concern.id})
ON CREATE SET job += {kind: 'notify', state: 'waiting', attempts: 0, created_at: $now, run_after: $now, subject: concern.id}
RETURN count(*) AS added
