// Complete a turn: its reply, prediction, totals, jobs and what was recalled, in one statement.
// Nothing when another turn came first, when this one was written before, or when the session has ended.
// mode: write, planned
// scope: student
// params: institution: str, student_id: str, session_id: str, turn_id: str, turn: map, source: map, companion: map, totals: map, jobs: list, boosts: list, asked: list, concerns: list, noticed_doubts: list, raised_doubts: list, at: datetime, oldest_turn: int, now: datetime, manifest_note_id: str, manifest_note: bytes
// returns: version: int
MATCH (student:Student {institution: $institution, id: $student_id})
// Counting the version up locks the student, so that the turns read below are the newest.
SET student.version = student.version + 1
WITH student
WHERE student.turns = $turn.seq - 1
  AND NOT EXISTS { (:Source {institution: $institution, student_id: $student_id, kind: 'chat', ref: $turn_id}) }
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now
MATCH (companion:Companion {institution: $institution, student_id: $student_id})
SET student += $totals, companion += $companion
CREATE (source:Source {institution: $institution, student_id: $student_id, kind: 'chat', ref: $turn_id})
SET source += $source, source.at = $at
MERGE (turn:Turn {institution: $institution, student_id: $student_id, id: $turn_id})
SET turn += $turn, turn.at = $at
REMOVE turn.given_reply, turn.used
MERGE (student)-[:SAID]->(turn)
CREATE (turn)-[:FORMED_FROM]->(source)
FOREACH (job IN $jobs |
  CREATE (j:Job {institution: $institution, student_id: $student_id})
  SET j += job, j.created_at = $now, j.run_after = $now
)
WITH student, turn, companion
CALL (turn) {
  MATCH (previous:Turn {institution: $institution, student_id: $student_id, seq: $turn.seq - 1})
  CREATE (previous)-[:PRECEDES]->(turn)
}
CALL (student) {
  MATCH (old:Turn {institution: $institution, student_id: $student_id})
  WHERE old.seq < $oldest_turn
  DETACH DELETE old
}
CALL () {
  UNWIND $boosts AS boost
  MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: boost.id})
  USING INDEX memory:Memory(institution, student_id, id)
  SET memory.gravity = boost.gravity, memory.last_accessed = $now, memory.access_count = memory.access_count + 1
}
CALL () {
  UNWIND $asked AS id
  MATCH (question:Question {institution: $institution, student_id: $student_id, id: id})
  WHERE question.state = 'waiting'
  SET question.state = 'asked', question.asked_at = $now
}
CALL (student) {
  UNWIND $concerns AS raised
  MATCH (source:Source {institution: $institution, student_id: $student_id, kind: 'chat', ref: $turn_id})
  SET student.memory_version = student.memory_version + 1
  MERGE (concern:Concern {institution: $institution, student_id: $student_id, id: raised.concern.id})
  ON CREATE SET concern += raised.concern
  MERGE (student)-[:SHOWS]->(concern)
  MERGE (concern)-[:FORMED_FROM]->(source)
  MERGE (entry:LedgerEntry {institution: $institution, student_id: $student_id, id: raised.entry.id})
  ON CREATE SET entry += raised.entry
  // Reported again, and surer, it matters more.
  SET entry.is_active = true,
      entry.importance = CASE WHEN entry.importance < raised.entry.importance THEN raised.entry.importance
                              ELSE entry.importance END
  MERGE (student)-[:KEEPS]->(entry)
  MERGE (concern)-[:KEPT_AS]->(entry)
  MERGE (entry)-[:FORMED_FROM]->(source)
}
CALL (student) {
  UNWIND $noticed_doubts AS new
  MERGE (doubt:Uncertainty {institution: $institution, student_id: $student_id, id: new.properties.id})
  ON CREATE SET doubt += new.properties
  SET student.memory_version = student.memory_version + 1
  WITH new, doubt
  UNWIND new.sides AS side
  MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: side.memory_id})
  MERGE (doubt)-[:CONCERNS {side: side.side}]->(memory)
}
CALL (student, companion) {
  UNWIND $raised_doubts AS raised
  MATCH (doubt:Uncertainty {institution: $institution, student_id: $student_id, id: raised.id})
  // Others read what is remembered again, so that it is not raised twice.
  SET student.memory_version = student.memory_version + 1, companion.tolerance = raised.tolerance
  SET doubt += raised.properties
}
CREATE (:ManifestNote {institution: $institution, student_id: $student_id, id: $manifest_note_id, content: $manifest_note})
RETURN student.version AS version
