// Write what follows one surprise, in one transaction: its episode, facts, revised beliefs, links, questions; its job is done.
// No row when another worker has taken the job over; `current` false when memories changed since they were read.
// mode: write
// scope: student
// params: institution: str, student_id: str, job_id: str, lease: str, source_ref: str, known: int, episode_id: str, formed: list, edges: list, closed: list, believed: list, flashbulbs: list, facts: list, facts_kept: int, questions: list, reflections: list, usage: map, now: datetime
// returns: current: bool, version: int, facts: int
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it, so that the version read below is the newest.
SET student.jobs_at = $now
WITH student
MATCH (job:Job {institution: $institution, student_id: $student_id, id: $job_id})
WHERE job.lease = $lease
MATCH (source:Source {institution: $institution, student_id: $student_id, kind: 'chat', ref: $source_ref})
MATCH (companion:Companion {institution: $institution, student_id: $student_id})
WITH student, job, source, companion, student.memory_version = $known AS current, student.facts AS facts
CALL (student, job, current, facts) {
  WITH * WHERE current
  SET student.memory_version = $known + 1,
      student.version = student.version + 1,
      student.facts = facts + size($facts),
      student.calls = student.calls + $usage.calls,
      student.input_tokens = student.input_tokens + $usage.input_tokens,
      student.output_tokens = student.output_tokens + $usage.output_tokens,
      student.cost = student.cost + $usage.cost,
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
CALL (student, source, current) {
  WITH * WHERE current
  MATCH (episode:Memory {institution: $institution, student_id: $student_id, id: $episode_id})
  USING INDEX episode:Memory(institution, student_id, id)
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
    WHERE memory.timestamp >= episode.timestamp AND memory.episode IS NULL
      AND NOT EXISTS { (next:Memory)-[:ABSTRACTS]->(memory) WHERE next.episode AND next.timestamp > episode.timestamp }
    WITH DISTINCT memory, episode
    OPTIONAL MATCH (other:Memory {episode: true})-[belongs:ABSTRACTS]->(memory)
    DELETE belongs
    WITH DISTINCT memory, episode
    CREATE (episode)-[:ABSTRACTS {weight: 1.0, reliability: 'reliable', created_at: $now, inferred_by: 'surprise'}]->(memory)
  }
  OPTIONAL MATCH (student)-[experiences:EXPERIENCES]->(running:Memory)
  // The turns of a session that has ended are gone, and so are its episodes.
  WITH student, episode, experiences, running,
       turn IS NULL OR coalesce(running.timestamp > episode.timestamp, false) AS outdone
  FOREACH (_ IN CASE WHEN outdone THEN [] ELSE [1] END | MERGE (student)-[:EXPERIENCES]->(episode))
  FOREACH (_ IN CASE WHEN outdone OR running = episode THEN [] ELSE [1] END | DELETE experiences)
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
}
CALL (source, current) {
  WITH * WHERE current
  UNWIND $closed AS id
  MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: id})
  USING INDEX memory:Memory(institution, student_id, id)
  SET memory.invalid_at = source.at, memory.reliability = 'superseded', memory.written = $known + 1
}
CALL (current) {
  WITH * WHERE current
  UNWIND $believed AS belief
  MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: belief.id})
  USING INDEX memory:Memory(institution, student_id, id)
  SET memory.kind = belief.kind, memory.written = $known + 1
}
CALL (current) {
  WITH * WHERE current
  UNWIND $flashbulbs AS id
  MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: id})
  USING INDEX memory:Memory(institution, student_id, id)
  SET memory.flashbulb = true, memory.written = $known + 1
}
CALL (source, companion, current, facts) {
  WITH * WHERE current
  UNWIND range(1, size($facts)) AS place
  CREATE (fact:Fact {institution: $institution, student_id: $student_id})
  SET fact += $facts[place - 1], fact.seq = facts + place
  CREATE (fact)-[:FORMED_FROM]->(source)
  CREATE (companion)-[:LEARNED]->(fact)
}
CALL (current, facts) {
  WITH * WHERE current
  MATCH (old:Fact {institution: $institution, student_id: $student_id})
  WHERE old.seq <= facts + size($facts) - $facts_kept
  DETACH DELETE old
}
CALL (current) {
  WITH * WHERE current
  MATCH (episode:Memory {institution: $institution, student_id: $student_id, id: $episode_id})
  USING INDEX episode:Memory(institution, student_id, id)
  FOREACH (question IN $questions |
    CREATE (q:Question {institution: $institution, student_id: $student_id})
    SET q += question
    CREATE (episode)-[:RAISES]->(q)
  )
  FOREACH (reflection IN $reflections |
    CREATE (r:Reflection {institution: $institution, student_id: $student_id})
    SET r += reflection
    CREATE (episode)-[:RAISES]->(r)
  )
}
RETURN current, student.version AS version, student.facts AS facts
