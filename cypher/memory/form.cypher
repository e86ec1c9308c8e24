// Form what one source gives, in one transaction: new memories, reinforced ones, edges, entities, ledger; its job is done.
// No row when another worker has taken the job over; `current` false when memories changed since they were read.
// mode: write
// scope: student
// params: institution: str, student_id: str, job_id: str, lease: str, source_id: str, source_kinds: list, source_ref: str, snr: int, known: int, formed: list, reinforced: list, edges: list, mentions: list, ledger: list, usage: map, now: datetime
// returns: current: bool
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it, so that the version read below is the newest.
SET student.jobs_at = $now
WITH student
MATCH (job:Job {institution: $institution, student_id: $student_id, id: $job_id})
WHERE job.lease = $lease
MATCH (source:Source {institution: $institution, student_id: $student_id, ref: $source_ref})
WHERE source.kind IN $source_kinds AND source.id = $source_id
WITH student, job, source, student.memory_version = $known AS current
CALL (student, job, source, current) {
  WITH * WHERE current
  SET student.memory_version = $known + 1,
      student.calls = student.calls + $usage.calls,
      student.input_tokens = student.input_tokens + $usage.input_tokens,
      student.output_tokens = student.output_tokens + $usage.output_tokens,
      student.cost = student.cost + $usage.cost,
      source.formed_at = $now, source.snr = $snr,
      job.state = 'done', job.finished_at = $now
  REMOVE job.lease, job.lease_until, job.payload, job.error
  FOREACH (_ IN CASE WHEN $usage.calls > 0 THEN [1] ELSE [] END |
    MERGE (usage:Usage {institution: $institution, student_id: $student_id, day: date($now), kind: job.kind})
    ON CREATE SET usage.calls = 0, usage.input_tokens = 0, usage.output_tokens = 0, usage.cost = 0.0
    SET usage.calls = usage.calls + $usage.calls,
        usage.input_tokens = usage.input_tokens + $usage.input_tokens,
        usage.output_tokens = usage.output_tokens + $usage.output_tokens,
        usage.cost = usage.cost + $usage.cost
  )
}
CALL (source, current) {
  WITH * WHERE current
  UNWIND $formed AS new
  CREATE (memory:Memory {institution: $institution, student_id: $student_id})
  SET memory:$(new.label), memory += new.properties, memory.written = $known + 1
  CREATE (memory)-[:FORMED_FROM {start: new.start, end: new.end}]->(source)
}
CALL (source, current) {
  WITH * WHERE current
  UNWIND $reinforced AS again
  MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: again.id})
  USING INDEX memory:Memory(institution, student_id, id)
  // Being used is counted in the graph alone: a use after the last one known here counts on.
  WITH source, memory, again, memory.gravity AS gravity, memory.last_accessed AS used,
       memory.last_accessed > again.properties.last_accessed AS used_since
  SET memory += again.properties, memory.written = $known + 1
  SET memory.gravity = CASE WHEN used_since THEN gravity ELSE memory.gravity END,
      memory.last_accessed = CASE WHEN used_since THEN used ELSE memory.last_accessed END
  MERGE (memory)-[span:FORMED_FROM]->(source)
  ON CREATE SET span.start = again.start, span.end = again.end
}
CALL (current) {
  WITH * WHERE current
  UNWIND $edges AS edge
  MATCH (from:Memory {institution: $institution, student_id: $student_id, id: edge.from_id})
  USING INDEX from:Memory(institution, student_id, id)
  MATCH (to:Memory {institution: $institution, student_id: $student_id, id: edge.to_id})
  USING INDEX to:Memory(institution, student_id, id)
  MERGE (from)-[relation:$(edge.type)]->(to)
  ON CREATE SET relation += edge.properties
  ON MATCH SET relation.weight = CASE WHEN relation.weight < edge.properties.weight
                                      THEN edge.properties.weight ELSE relation.weight END
}
CALL (current) {
  WITH * WHERE current
  UNWIND $mentions AS mention
  MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: mention.memory_id})
  USING INDEX memory:Memory(institution, student_id, id)
  MERGE (entity:Entity {institution: $institution, student_id: $student_id, key: mention.key})
  ON CREATE SET entity += mention.entity
  MERGE (memory)-[relation:$(mention.type)]->(entity)
  ON CREATE SET relation += mention.properties
}
CALL (student, source, current) {
  WITH * WHERE current
  UNWIND $ledger AS kept
  MERGE (entry:LedgerEntry {institution: $institution, student_id: $student_id, id: kept.properties.id})
  ON CREATE SET entry += kept.properties
  MERGE (student)-[:KEEPS]->(entry)
  MERGE (entry)-[:FORMED_FROM]->(source)
  WITH entry, kept
  MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: kept.memory_id})
  USING INDEX memory:Memory(institution, student_id, id)
  SET memory.in_ledger = true, memory.written = $known + 1
  MERGE (entry)-[:CONCERNS]->(memory)
}
CALL (student, source, current) {
  WITH * WHERE current AND source.kind = 'chat'
  // What is said while an episode runs belongs to it.
  MATCH (student)-[:EXPERIENCES]->(episode:Memory)
  WHERE episode.timestamp <= source.at
  UNWIND $formed AS new
  MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: new.properties.id})
  USING INDEX memory:Memory(institution, student_id, id)
  MERGE (episode)-[belongs:ABSTRACTS]->(memory)
  ON CREATE SET belongs += {weight: 1.0, reliability: 'reliable', created_at: $now, inferred_by: 'surprise'}
}
RETURN current
