// Start an episode: it abstracts the memories of its message and of later ones, and is under way unless a newer one is.
// mode: write, planned
// scope: student
// params: institution: str, student_id: str, episode_id: str, source_id: str, source_kinds: list, source_ref: str, written: int, now: datetime
// returns: episodes: int, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (source:Source {institution: $institution, student_id: $student_id, ref: $source_ref})
WHERE source.kind IN $source_kinds AND coalesce(source.id = $source_id, $source_id IS NULL)
MATCH (episode:Memory {institution: $institution, student_id: $student_id, id: $episode_id})
USING INDEX episode:Memory(institution, student_id, id)
MERGE (student)-[:LIVED]->(episode)
WITH student, source, episode
OPTIONAL MATCH (turn:Turn {institution: $institution, student_id: $student_id, id: $source_ref})
// What is new in this message, or in a later one that was read before this job ran, belongs to this episode and to
// none before it.
CALL (source, turn, episode) {
  CALL (source, turn) {
    RETURN source AS said
    UNION
    MATCH (later:Turn {institution: $institution, student_id: $student_id})
    USING INDEX later:Turn(institution, student_id, seq)
    WHERE later.seq > turn.seq
    MATCH (later)-[:FORMED_FROM]->(said:Source)
    RETURN said
  }
  MATCH (memory:Memory)-[:FORMED_FROM]->(said)
  WHERE memory.timestamp >= episode.timestamp AND memory.role <> 'episode'
    AND NOT EXISTS { (next:Memory {role: 'episode'})-[:ABSTRACTS]->(memory) WHERE next.timestamp > episode.timestamp }
  WITH DISTINCT memory, episode
  OPTIONAL MATCH (other:Memory {role: 'episode'})-[belongs:ABSTRACTS]->(memory)
  DELETE belongs
  // An end of an edge counts as written, so that others see it.
  SET memory.written = $written
  WITH DISTINCT memory, episode
  CREATE (episode)-[:ABSTRACTS {weight: 1.0, reliability: 'reliable', created_at: $now, inferred_by: 'surprise'}]->(memory)
}
OPTIONAL MATCH (student)-[experiences:EXPERIENCES]->(running:Memory)
// The turns of a session that has ended are gone, and so are its episodes.
WITH student, episode, experiences, running,
     turn IS NULL OR coalesce(running.timestamp > episode.timestamp, false) AS outdone
FOREACH (_ IN CASE WHEN outdone THEN [] ELSE [1] END | MERGE (student)-[:EXPERIENCES]->(episode))
FOREACH (_ IN CASE WHEN outdone OR running = episode THEN [] ELSE [1] END | DELETE experiences)
WITH DISTINCT episode
WITH COLLECT { MATCH (episode)-[:ABSTRACTS]->(memory:Memory) RETURN memory.id } AS members
RETURN 1 AS episodes, [id IN members + [$episode_id] | {label: 'Memory', id: id, links: ['ABSTRACTS']}] AS touched
