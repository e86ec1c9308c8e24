// Delete the rest of an observation whose memories are deleted.
// That is its job, the words of its concern, and that other memories come from it, too. The source stays, as formed.
// No row, and nothing written, when the session has ended.
// mode: write
// scope: student
// params: institution: str, student_id: str, session_id: str, id: str, now: datetime
// returns: edges: int, jobs: int, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now
SET student.memory_version = student.memory_version + 1
SET student.memories_removed = student.memory_version
WITH student
MATCH (source:Source {institution: $institution, student_id: $student_id})
WHERE source.kind IS NOT NULL AND source.ref IS NOT NULL AND source.id = $id
SET source.formed_at = coalesce(source.formed_at, $now)
WITH source
CALL (source) {
  MATCH (concern:Concern)-[:FORMED_FROM]->(source)
  REMOVE concern.text, concern.note
  RETURN collect(concern.id) AS concerns
}
CALL (source) {
  OPTIONAL MATCH (:Memory)-[formed:FORMED_FROM]->(source)
  DELETE formed
  RETURN count(formed) AS edges
}
CALL (source) {
  OPTIONAL MATCH (job:Job {institution: $institution, student_id: $student_id, id: 'observe-' + source.id})
  DETACH DELETE job
  RETURN count(job) AS jobs
}
RETURN edges, jobs, [{label: 'Source', id: source.kind + ':' + source.ref, set: ['formed_at'], links: ['FORMED_FROM']}] +
       [id IN concerns | {label: 'Concern', id: id, set: ['text', 'note']}] AS touched
