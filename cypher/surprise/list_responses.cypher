// Sealed responses to the surprises that some memories of a student keep.
// mode: read
// scope: student
// params: institution: str, student_id: str, ids: list
// returns: id: str, response: bytes
UNWIND $ids AS id
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: id})
USING INDEX memory:Memory(institution, student_id, id)
WHERE memory.surprise_response IS NOT NULL
RETURN memory.id AS id, memory.surprise_response AS response
