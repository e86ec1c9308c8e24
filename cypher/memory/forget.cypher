// Delete a memory and what it fed.
// That is facts, ledger entries, doubts, questions, raw turns, waiting jobs and what was made of it (episodes, beliefs,
// procedures, summaries). Its sources stay, without a word, so that it is not formed again.
// No row, and nothing written, without such a memory, or when the session has ended.
// mode: write
// scope: student
// params: institution: str, student_id: str, session_id: str, id: str, now: datetime
// returns: version: int, memories: int, edges: int, ledger: int, facts: int, uncertainties: int, jobs: int, other: int, gone: list of [label: str, id: str], concerns: list of str
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: $id})
// A counted version tells every replica that what it holds is stale; writing the student locks it.
SET student.memory_version = student.memory_version + 1, student.version = student.version + 1
SET student.memories_removed = student.memory_version
WITH student, memory, COLLECT { MATCH (memory)-[:FORMED_FROM]->(source:Source) RETURN source } AS sources
WITH student, sources, [memory] + COLLECT {
  UNWIND sources AS source
  MATCH (made:Memory)-[:FORMED_FROM]->(source)
  WHERE made.role <> 'said'
  RETURN DISTINCT made
  UNION
  MATCH (made:Memory)-[:ABSTRACTS]->(memory)
  WHERE made.role <> 'episode'
  RETURN DISTINCT made
} AS found
CALL (found) { UNWIND found AS each RETURN collect(DISTINCT each) AS memories }
WITH student, sources, memories,
     COLLECT { UNWIND sources AS source MATCH (fact:Fact)-[:FORMED_FROM]->(source) RETURN DISTINCT fact } AS facts,
     COLLECT { UNWIND sources AS source MATCH (turn:Turn)-[:FORMED_FROM]->(source) RETURN DISTINCT turn } AS turns,
     COLLECT { UNWIND memories AS gone MATCH (entry:LedgerEntry)-[:CONCERNS]->(gone) RETURN DISTINCT entry
               UNION
               UNWIND sources AS source MATCH (entry:LedgerEntry)-[:FORMED_FROM]->(source)
               WHERE NOT EXISTS { (entry)-[:CONCERNS]->(:Memory) } RETURN DISTINCT entry } AS entries,
     COLLECT { UNWIND memories AS gone MATCH (doubt:Uncertainty)-[:CONCERNS]->(gone) RETURN DISTINCT doubt } AS doubts,
     COLLECT { UNWIND memories AS gone MATCH (gone)-[:RAISES]->(asked:Question|Reflection) RETURN DISTINCT asked } AS questions,
     COLLECT { UNWIND sources AS source MATCH (concern:Concern)-[:FORMED_FROM]->(source) RETURN DISTINCT concern } AS concerns
WITH *,
     COLLECT { UNWIND turns AS turn
               MATCH (job:Job {institution: $institution, student_id: $student_id})
               WHERE job.id IS NOT NULL AND job.seq = turn.seq AND job.state <> 'done' RETURN DISTINCT job } AS jobs,
     COLLECT { UNWIND memories AS gone
               MATCH (gone)-[:INVOLVES|ABOUT|LOCATED_AT]->(entity:Entity)
               WHERE NOT EXISTS { MATCH (other:Memory)-[:INVOLVES|ABOUT|LOCATED_AT]->(entity) WHERE NOT other IN memories }
               RETURN DISTINCT entity } AS entities
// The flag of a danger stays for whoever watches over the student; its words go.
FOREACH (concern IN concerns | REMOVE concern.text, concern.note)
WITH *, memories + facts + turns + entries + doubts + questions + jobs + entities AS nodes
CALL (nodes) {
  UNWIND nodes AS node
  OPTIONAL MATCH (node)-[relation]-()
  RETURN count(DISTINCT relation) AS edges
}
WITH student, nodes, edges, [concern IN concerns | concern.id] AS concerns,
     [node IN nodes | [CASE WHEN node:Memory THEN 'Memory' ELSE labels(node)[0] END, coalesce(node.key, node.id)]] AS gone,
     size(memories) AS memories, size(entries) AS ledger, size(facts) AS facts,
     size(doubts) AS uncertainties, size(jobs) AS jobs
FOREACH (node IN nodes | DETACH DELETE node)
RETURN student.memory_version AS version, memories, edges, ledger, facts, uncertainties, jobs,
       size(nodes) - memories - ledger - facts - uncertainties - jobs AS other, gone, concerns
