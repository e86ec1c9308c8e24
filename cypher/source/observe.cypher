// Store observations, each with a job that forms memories of it; known ones stay as they are.
// No row, and nothing written, when with the new ones more jobs of the student would wait than may, or when they are sealed
// with another public key than the student has by now.
// mode: write
// scope: student
// params: institution: str, student_id: str, public_key: bytes, observations: list, most: int, now: datetime
// returns: sources: list of [id: str, kind: str, ref: str, at: int in ms], touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it, so that the same observation sent twice at once is noted once, and jobs are counted right.
SET student.jobs_at = coalesce(student.jobs_at, $now)
WITH student WHERE student.public_key = $public_key
CALL () {
  UNWIND $observations AS observed
  WITH DISTINCT observed.id AS id, observed.kind AS kind, observed.ref AS ref
  WHERE NOT EXISTS {
    MATCH (known:Source {institution: $institution, student_id: $student_id, ref: ref})
    WHERE known.kind IN [kind, 'chat'] AND known.id = id
  }
  RETURN count(*) AS new
}
WITH student, new, COUNT { (:Job {institution: $institution, student_id: $student_id, state: 'waiting'}) } AS waiting
WHERE new = 0 OR waiting + new <= $most
UNWIND $observations AS observed
// A remark that was noted while remarks had the kind of turns keeps it.
OPTIONAL MATCH (old:Source {institution: $institution, student_id: $student_id, kind: 'chat', ref: observed.ref})
WHERE old.id = observed.id
WITH student, observed, coalesce(old.kind, observed.kind) AS kind
MERGE (source:Source {institution: $institution, student_id: $student_id, kind: kind, ref: observed.ref})
ON CREATE SET source.id = observed.id, source.at = observed.at
WITH student, source, observed
CALL (student, source, observed) {
  // What has been formed already has no job any more, once that was deleted.
  WITH * WHERE source.id = observed.id AND source.formed_at IS NULL
  MERGE (job:Job {institution: $institution, student_id: $student_id, id: observed.job.id})
  ON CREATE SET job += observed.job
  FOREACH (raised IN observed.concerns |
    MERGE (concern:Concern {institution: $institution, student_id: $student_id, id: raised.id})
    ON CREATE SET concern += raised
    MERGE (student)-[:SHOWS]->(concern)
    MERGE (concern)-[:FORMED_FROM]->(source)
  )
}
WITH collect([source.id, source.kind, source.ref, source.at.epochMillis]) AS sources,
     collect(DISTINCT {label: 'Source', id: source.kind + ':' + source.ref, made: true}) AS noted
WHERE size(sources) > 0
RETURN sources, noted + reduce(all = [], observed IN $observations | all +
       [raised IN observed.concerns | {label: 'Concern', id: raised.id, made: true, links: ['SHOWS', 'FORMED_FROM']}]) AS touched
