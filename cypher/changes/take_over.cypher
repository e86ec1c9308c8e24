// Let memories take over the sources, entities, questions and doubts of others, which go afterwards.
// Their edges to other memories are written by `changes/link`. Of what is restored from a summary it is one source alone.
// mode: write
// scope: student
// params: institution: str, student_id: str, rows: list, written: int
// returns: touched: list of map
UNWIND $rows AS row
MATCH (into:Memory {institution: $institution, student_id: $student_id, id: row.into})
USING INDEX into:Memory(institution, student_id, id)
MATCH (gone:Memory {institution: $institution, student_id: $student_id, id: row.gone})
USING INDEX gone:Memory(institution, student_id, id)
SET into.written = $written
WITH into, gone, row.ref AS ref
CALL (into, gone, ref) {
  MATCH (gone)-[span:FORMED_FROM]->(source:Source) WHERE coalesce(source.ref = ref, true)
  WITH into, source, properties(span) AS told
  MERGE (into)-[own:FORMED_FROM]->(source)
  ON CREATE SET own += told
}
CALL (into, gone, ref) {
  MATCH (gone)-[edge:INVOLVES|ABOUT|LOCATED_AT]->(entity:Entity|Concept) WHERE ref IS NULL
  WITH into, entity, type(edge) AS kind, properties(edge) AS told
  MERGE (into)-[own:$(kind)]->(entity)
  ON CREATE SET own += told
}
CALL (into, gone, ref) {
  MATCH (gone)-[:RAISES]->(raised:Question|Reflection) WHERE ref IS NULL
  MERGE (into)-[:RAISES]->(raised)
}
CALL (into, gone, ref) {
  MATCH (doubt:Uncertainty)-[concerns:CONCERNS]->(gone) WHERE ref IS NULL
  MERGE (doubt)-[own:CONCERNS {side: concerns.side}]->(into)
}
RETURN collect(DISTINCT {label: 'Memory', id: into.id, links: ['FORMED_FROM', 'INVOLVES', 'ABOUT', 'LOCATED_AT', 'RAISES', 'CONCERNS']}) AS touched
