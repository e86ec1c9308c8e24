// Set properties of memories that exist; a null value removes its property.
// mode: write
// scope: student
// params: institution: str, student_id: str, memories: list, written: int
// returns: memories: int, touched: list of map
UNWIND $memories AS update
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: update.id})
USING INDEX memory:Memory(institution, student_id, id)
SET memory += update.properties, memory.written = $written
RETURN count(memory) AS memories,
       collect(DISTINCT {label: 'Memory', id: memory.id, set: keys(update.properties)}) AS touched
