// Add a job for each job of some institutions that has died lately, and that none was made of yet.
// mode: write
// scope: service
// params: institutions: list of str, since: datetime, now: datetime, limit: int
// returns: added: int
MATCH (dead:Job {state: 'dead'})
WHERE dead.run_after >= $since AND dead.institution IN $institutions AND dead.kind <> 'notify'
WITH dead, 'notify-' + dead.id + '-' + toString(dead.run_after.epochMillis) AS id
WHERE NOT EXISTS { (:Job {institution: dead.institution, student_id: dead.student_id, id: id}) }
WITH dead, id LIMIT $limit
MATCH (student:Student {institution: dead.institution, id: dead.student_id})
// Writing the student locks it, so that nothing is added while the student is erased.
SET student.jobs_at = coalesce(student.jobs_at, $now)
MERGE (job:Job {institution: dead.institution, student_id: dead.student_id, id: id})
ON CREATE SET job += {kind: 'notify', state: 'waiting', attempts: 0, created_at: $now, run_after: $now, subject: dead.id}
RETURN count(*) AS added
