// Make memories of statements that leave their summaries, each with the sources of that statement.
// mode: write
// scope: student
// params: institution: str, student_id: str, statements: list, written: int
// returns: memories: int, touched: list of map
UNWIND $statements AS each
MATCH (summary:Memory {institution: $institution, student_id: $student_id, id: each.summary_id})
USING INDEX summary:Memory(institution, student_id, id)
MERGE (memory:Memory {institution: $institution, student_id: $student_id, id: each.properties.id})
ON CREATE SET memory:$(each.label), memory += each.properties, memory.written = $written
WITH each, summary, memory
CALL (each, summary, memory) {
  MATCH (summary)-[span:FORMED_FROM]->(source:Source) WHERE source.ref = each.ref
  WITH memory, source, properties(span) AS told
  MERGE (memory)-[own:FORMED_FROM]->(source)
  ON CREATE SET own += told
}
RETURN count(memory) AS memories,
       collect(DISTINCT {label: 'Memory', id: memory.id, made: true, links: ['FORMED_FROM']}) AS touched
