// Let memories take over the sources, entities, questions and doubts of others, which go afterwards.
// Their edges to other memories are written by `changes/merge_edges`.
// mode: write
// scope: student
// params: institution: str, student_id: str, absorbed: list, written: int
// returns: memories: int, touched: list of map
UNWIND $absorbed AS each
MATCH (into:Memory {institution: $institution, student_id: $student_id, id: each.into})
USING INDEX into:Memory(institution, student_id, id)
MATCH (gone:Memory {institution: $institution, student_id: $student_id, id: each.gone})
USING INDEX gone:Memory(institution, student_id, id)
SET into.written = $written
WITH into, gone
CALL (into, gone) {
  MATCH (gone)-[span:FORMED_FROM]->(source:Source)
  WITH into, source, properties(span) AS told
  MERGE (into)-[own:FORMED_FROM]->(source)
  ON CREATE SET own += told
}
CALL (into, gone) {
  MATCH (gone)-[edge:INVOLVES|ABOUT|LOCATED_AT]->(entity:Entity|Concept)
  WITH into, entity, type(edge) AS kind, properties(edge) AS told
  MERGE (into)-[own:$(kind)]->(entity)
  ON CREATE SET own += told
}
CALL (into, gone) {
  MATCH (gone)-[:RAISES]->(raised:Question|Reflection)
  MERGE (into)-[:RAISES]->(raised)
}
CALL (into, gone) {
  MATCH (doubt:Uncertainty)-[concerns:CONCERNS]->(gone)
  MERGE (doubt)-[own:CONCERNS {side: concerns.side}]->(into)
}
RETURN count(gone) AS memories,
       collect(DISTINCT {label: 'Memory', id: into.id, links: ['FORMED_FROM', 'INVOLVES', 'ABOUT', 'LOCATED_AT', 'RAISES', 'CONCERNS']}) AS touched
