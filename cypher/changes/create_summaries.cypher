// Create summaries; what they stand for gives them their sources afterwards.
// mode: write
// scope: student
// params: institution: str, student_id: str, memories: list, written: int
// returns: memories: int, touched: list of map
UNWIND $memories AS new
MERGE (memory:Memory {institution: $institution, student_id: $student_id, id: new.properties.id})
ON CREATE SET memory:$(new.label), memory += new.properties, memory.written = $written
RETURN count(memory) AS memories,
       collect(DISTINCT {label: 'Memory', id: memory.id, made: true}) AS touched
