// What somebody says of a surprise afterwards: its level, whether it lights up for good, and which beliefs hold again.
// No row without such a memory; `current` false when memories changed since they were read. Twice is as once.
// mode: write
// scope: student
// params: institution: str, student_id: str, memory_id: str, known: int, level: str, kin: list, flashbulbs: list, faded: list, closed: list, reopened: list, verdict: str, note: bytes, correction: map, now: datetime
// returns: current: bool, version: int
MATCH (student:Student {institution: $institution, id: $student_id})
SET student.jobs_at = $now
WITH student
MATCH (corrected:Memory {institution: $institution, student_id: $student_id, id: $memory_id})
WITH student, corrected, student.memory_version = $known AS current
CALL (student, corrected, current) {
  WITH * WHERE current
  SET student.memory_version = $known + 1,
      student.version = student.version + 1,
      student.corrected_signals = (coalesce(student.corrected_signals, []) + [$correction.signal])[-100..],
      student.corrected_levels = (coalesce(student.corrected_levels, []) + [$correction.level])[-100..],
      student.verdicts = (coalesce(student.verdicts, []) + [$verdict])[-100..],
      corrected.verdict = $verdict, corrected.verdict_note = $note
}
CALL (current) {
  WITH * WHERE current
  UNWIND $kin AS id
  MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: id})
  USING INDEX memory:Memory(institution, student_id, id)
  SET memory.surprise_level = $level, memory.written = $known + 1
}
CALL (current) {
  WITH * WHERE current
  UNWIND [[$flashbulbs, true], [$faded, false]] AS change
  UNWIND change[0] AS id
  MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: id})
  USING INDEX memory:Memory(institution, student_id, id)
  SET memory.flashbulb = change[1], memory.written = $known + 1
}
CALL (current) {
  WITH * WHERE current
  UNWIND $closed AS id
  MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: id})
  USING INDEX memory:Memory(institution, student_id, id)
  SET memory.invalid_at = $now, memory.reliability = 'superseded', memory.written = $known + 1
}
CALL (current) {
  WITH * WHERE current
  UNWIND $reopened AS id
  MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: id})
  USING INDEX memory:Memory(institution, student_id, id)
  SET memory.reliability = 'reliable', memory.written = $known + 1
  REMOVE memory.invalid_at
}
RETURN current, student.version AS version
