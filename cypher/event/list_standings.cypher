// A student's memories that were written after a version, as they stand; nothing that was said.
// mode: read
// scope: student
// params: institution: str, student_id: str, since: int
// returns: id: str, reinforcements: int, reliability: str, ended: bool, flashbulb: bool
MATCH (memory:Memory {institution: $institution, student_id: $student_id})
WHERE memory.written > $since
RETURN memory.id AS id, memory.reinforcement_count AS reinforcements, memory.reliability AS reliability,
       memory.invalid_at IS NOT NULL AS ended, memory.flashbulb AS flashbulb
ORDER BY id
