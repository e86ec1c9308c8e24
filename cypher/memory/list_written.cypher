// A page of the ids of a student's memories that were written after a version, by id.
// mode: read, planned
// scope: student
// params: institution: str, student_id: str, since: int, after: str, limit: int
// returns: ids: list of str
MATCH (memory:Memory {institution: $institution, student_id: $student_id})
WHERE memory.written > $since AND memory.id > $after
WITH memory.id AS id ORDER BY id LIMIT $limit
RETURN collect(id) AS ids
