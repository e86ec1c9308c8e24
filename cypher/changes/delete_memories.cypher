// Delete memories.
// mode: write
// scope: student
// params: institution: str, student_id: str, ids: list
// returns: deleted: int, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
SET student.memories_removed = student.memory_version
WITH student
UNWIND $ids AS id
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: id})
USING INDEX memory:Memory(institution, student_id, id)
DETACH DELETE memory
RETURN count(*) AS deleted,
       collect(DISTINCT {label: 'Memory', id: id, gone: true}) AS touched
