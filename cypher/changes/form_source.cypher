// Mark a source as formed, and let its new memories belong to the episode under way.
// mode: write, planned
// scope: student
// params: institution: str, student_id: str, source_id: str, source_kinds: list, source_ref: str, snr: int, ids: list, written: int, now: datetime
// returns: memories: int, touched: list of map
MATCH (source:Source {institution: $institution, student_id: $student_id, ref: $source_ref})
WHERE source.kind IN $source_kinds AND coalesce(source.id = $source_id, $source_id IS NULL)
SET source.formed_at = $now, source.snr = $snr
WITH source
CALL (source) {
  WITH * WHERE source.kind = 'chat'
  MATCH (:Student {institution: $institution, id: $student_id})-[:EXPERIENCES]->(episode:Memory)
  WHERE episode.timestamp <= source.at
  UNWIND $ids AS id
  MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: id})
  USING INDEX memory:Memory(institution, student_id, id)
  // An end of an edge counts as written, so that others see it.
  SET memory.written = $written
  MERGE (episode)-[belongs:ABSTRACTS]->(memory)
  ON CREATE SET belongs += {weight: 1.0, reliability: 'reliable', created_at: $now, inferred_by: 'surprise'}
  RETURN collect(memory.id) AS ids
}
RETURN size(ids) AS memories, [{label: 'Source', id: source.kind + ':' + source.ref, set: ['formed_at', 'snr']}] +
       [id IN ids | {label: 'Memory', id: id, links: ['ABSTRACTS']}] AS touched
