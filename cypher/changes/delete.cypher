// Delete memories.
// mode: write
// scope: student
// params: institution: str, student_id: str, rows: list of str
// returns: touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
SET student.memories_removed = student.memory_version
WITH student
UNWIND $rows AS id
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: id})
USING INDEX memory:Memory(institution, student_id, id)
DETACH DELETE memory
RETURN collect(DISTINCT {label: 'Memory', id: id, gone: true}) AS touched
