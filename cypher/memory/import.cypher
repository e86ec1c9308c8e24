// Store many memories of a student at once, as an import brings them, each with a source of its own and the memory before it; those of a known id are left as they are.
// mode: write
// scope: student
// params: institution: str, student_id: str, memories: list, now: datetime
// returns: memories: int
MATCH (student:Student {institution: $institution, id: $student_id})
SET student.memory_version = student.memory_version + 1
WITH student.memory_version AS version
UNWIND $memories AS new
MERGE (memory:Memory {institution: $institution, student_id: $student_id, id: new.properties.id})
ON CREATE SET memory:$(new.label), memory += new.properties, memory.written = version
MERGE (source:Source {institution: $institution, student_id: $student_id, kind: new.source.kind, ref: new.source.ref})
ON CREATE SET source += new.source, source.formed_at = $now
MERGE (memory)-[span:FORMED_FROM]->(source)
ON CREATE SET span.start = new.start, span.end = new.end
WITH memory, new
CALL (memory, new) {
  WITH * WHERE new.after IS NOT NULL
  MATCH (before:Memory {institution: $institution, student_id: $student_id, id: new.after})
  MERGE (before)-[relation:PRECEDES]->(memory)
  ON CREATE SET relation += new.edge
}
RETURN count(memory) AS memories
