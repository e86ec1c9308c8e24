// Delete a memory and what it fed.
// That is its ledger entries, doubts, questions, raw turns, waiting jobs, what was made of it (episodes, beliefs,
// procedures; of summaries those that are not kept), and what is named by id, as it tells the same. Its sources stay,
// without a word, so that it is not formed again.
// No row, and nothing written, without such a memory, or when the session has ended. `current` is false, and nothing is
// deleted, when the student was changed since `version`.
// mode: write
// scope: student
// params: institution: str, student_id: str, session_id: str, id: str, version: int, kept: list of str, emptied: list of str, facts: list of str, turns: list of str, entries: list of str, questions: list of str, jobs: list of str, prediction: bool, now: datetime
// returns: current: bool, memories: int, edges: int, ledger: int, facts: int, uncertainties: int, jobs: int, other: int, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: $id})
// Writing the student locks it.
SET student.jobs_at = coalesce(student.jobs_at, $now)
WITH student, memory, student.version = $version AS current
// A counted version tells every replica that what it holds is stale.
FOREACH (_ IN CASE WHEN current THEN [1] ELSE [] END |
  SET student.memory_version = student.memory_version + 1, student.version = student.version + 1
  SET student.memories_removed = student.memory_version
)
WITH student, memory, current,
     COLLECT { MATCH (memory)-[:FORMED_FROM]->(source:Source) WHERE current RETURN source } AS sources
WITH student, current, sources, CASE WHEN current THEN [memory] ELSE [] END + COLLECT {
  UNWIND sources AS source
  MATCH (made:Memory)-[:FORMED_FROM]->(source)
  WHERE made.role <> 'said' AND NOT made.id IN $kept
  RETURN DISTINCT made
  UNION
  MATCH (made:Memory)-[:ABSTRACTS]->(memory)
  WHERE current AND NOT made.role IN ['episode', 'lesson'] AND NOT made.id IN $kept
  RETURN DISTINCT made
  UNION
  MATCH (made:Memory {institution: $institution, student_id: $student_id})
  WHERE current AND made.id IN $emptied
  RETURN DISTINCT made
} AS found
CALL (found) { UNWIND found AS each RETURN collect(DISTINCT each) AS memories }
WITH student, current, sources, memories,
     COLLECT { MATCH (fact:Fact {institution: $institution, student_id: $student_id})
               WHERE current AND fact.id IN $facts RETURN fact } AS facts,
     COLLECT { UNWIND sources AS source MATCH (turn:Turn)-[:FORMED_FROM]->(source) RETURN DISTINCT turn
               UNION
               MATCH (turn:Turn {institution: $institution, student_id: $student_id})
               WHERE current AND turn.id IN $turns RETURN DISTINCT turn } AS turns,
     COLLECT { UNWIND memories AS gone MATCH (entry:LedgerEntry)-[:CONCERNS]->(gone) RETURN DISTINCT entry
               UNION
               UNWIND sources AS source MATCH (entry:LedgerEntry)-[:FORMED_FROM]->(source)
               WHERE NOT EXISTS { (entry)-[:CONCERNS]->(:Memory) } RETURN DISTINCT entry
               UNION
               MATCH (entry:LedgerEntry {institution: $institution, student_id: $student_id})
               WHERE current AND entry.id IN $entries RETURN DISTINCT entry } AS entries,
     COLLECT { UNWIND memories AS gone MATCH (doubt:Uncertainty)-[:CONCERNS]->(gone) RETURN DISTINCT doubt } AS doubts,
     COLLECT { UNWIND memories AS gone MATCH (gone)-[:RAISES]->(asked:Question|Reflection) RETURN DISTINCT asked
               UNION
               MATCH (asked:Question {institution: $institution, student_id: $student_id})
               WHERE current AND asked.id IN $questions RETURN DISTINCT asked
               UNION
               MATCH (asked:Reflection {institution: $institution, student_id: $student_id})
               WHERE current AND asked.id IN $questions RETURN DISTINCT asked } AS questions,
     COLLECT { UNWIND sources AS source MATCH (concern:Concern)-[:FORMED_FROM]->(source) RETURN DISTINCT concern } AS concerns
WITH *,
     COLLECT { MATCH (job:Job {institution: $institution, student_id: $student_id})
               WHERE current AND job.id IS NOT NULL AND job.state <> 'done'
                 AND (job.seq IN [turn IN turns WHERE EXISTS { (turn)-[:FORMED_FROM]->(source:Source) WHERE source IN sources } | turn.seq]
                      OR job.id IN $jobs)
               RETURN DISTINCT job } AS jobs,
     COLLECT { UNWIND memories AS gone
               MATCH (gone)-[:INVOLVES|ABOUT|LOCATED_AT]->(entity:Entity)
               WHERE NOT EXISTS { MATCH (other:Memory)-[:INVOLVES|ABOUT|LOCATED_AT]->(entity) WHERE NOT other IN memories }
               RETURN DISTINCT entity } AS entities
CALL (jobs) {
  // What was observed and tells it is not formed when it is observed again.
  UNWIND jobs AS job
  MATCH (observed:Source {institution: $institution, student_id: $student_id})
  WHERE observed.kind IS NOT NULL AND observed.ref IS NOT NULL AND job.id = 'observe-' + observed.id
  SET observed.formed_at = $now
  RETURN collect(observed.kind + ':' + observed.ref) AS formed
}
CALL (current) {
  MATCH (companion:Companion {institution: $institution, student_id: $student_id})
  WHERE current AND $prediction
  REMOVE companion.prediction, companion.prediction_embedding
}
// The flag of a danger stays for whoever watches over the student; its words go.
FOREACH (concern IN concerns | REMOVE concern.text, concern.note)
WITH *, memories + facts + turns + entries + doubts + questions + jobs + entities AS nodes
CALL (nodes) {
  UNWIND nodes AS node
  OPTIONAL MATCH (node)-[relation]-()
  RETURN count(DISTINCT relation) AS edges
}
WITH current, nodes, edges, formed, [concern IN concerns | concern.id] AS concerns,
     [node IN nodes | [CASE WHEN node:Memory THEN 'Memory' ELSE labels(node)[0] END, coalesce(node.key, node.id)]] AS gone,
     size(memories) AS memories, size(entries) AS ledger, size(facts) AS facts,
     size(doubts) AS uncertainties, size(jobs) AS jobs
FOREACH (node IN nodes | DETACH DELETE node)
RETURN current, memories, edges, ledger, facts, uncertainties, jobs,
       size(nodes) - memories - ledger - facts - uncertainties - jobs AS other,
       [node IN gone | {label: node[0], id: node[1], gone: true}] +
       [id IN concerns | {label: 'Concern', id: id, set: ['text', 'note']}] + [id IN formed | {label: 'Source', id: id, set: ['formed_at']}] AS touched
