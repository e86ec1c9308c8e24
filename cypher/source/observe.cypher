// Store observations, each with a job that forms memories of it; known ones stay as they are.
// mode: write
// scope: student
// params: institution: str, student_id: str, observations: list, now: datetime
// returns: sources: list of [id: str, kind: str, ref: str, at: int in ms]
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it, so that the same observation sent twice at once is noted once.
SET student.jobs_at = $now
WITH student
UNWIND $observations AS observed
MERGE (source:Source {institution: $institution, student_id: $student_id, kind: observed.kind, ref: observed.ref})
ON CREATE SET source.id = observed.id, source.at = observed.at
WITH source, observed
CALL (source, observed) {
  // What has been formed already has no job any more, once that was deleted.
  WITH * WHERE source.id = observed.id AND source.formed_at IS NULL
  MERGE (job:Job {institution: $institution, student_id: $student_id, id: observed.job.id})
  ON CREATE SET job += observed.job
}
RETURN collect([source.id, source.kind, source.ref, source.at.epochMillis]) AS sources
