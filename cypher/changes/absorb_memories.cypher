// Let memories take over the sources, links, entities, questions and doubts of others, which go afterwards.
// Of edges between two memories the greater weight stays; `most` bounds how many links each of those that go leaves.
// mode: write
// scope: student
// params: institution: str, student_id: str, absorbed: list, written: int
// returns: memories: int
UNWIND $absorbed AS each
MATCH (into:Memory {institution: $institution, student_id: $student_id, id: each.into})
USING INDEX into:Memory(institution, student_id, id)
MATCH (gone:Memory {institution: $institution, student_id: $student_id, id: each.gone})
USING INDEX gone:Memory(institution, student_id, id)
SET into.written = $written
WITH into, gone, each
CALL (into, gone) {
  MATCH (gone)-[span:FORMED_FROM]->(source:Source)
  WITH into, source, properties(span) AS told
  MERGE (into)-[own:FORMED_FROM]->(source)
  ON CREATE SET own += told
}
CALL (into, gone, each) {
  MATCH (gone)-[edge:PRECEDES|CAUSES|ENABLES|RELATES_TO|CONTRADICTS|SUPPORTS|REFINES|ABSTRACTS|EVOKES|REMINDS_OF|TEMPORAL_EVOLUTION]->(other:Memory)
  WHERE other <> into
  WITH into, other, type(edge) AS kind, properties(edge) AS told ORDER BY told.weight DESC, other.id LIMIT 1000
  WITH into, collect([other, kind, told])[..each.most] AS links
  UNWIND links AS link
  WITH into, link[0] AS other, link[1] AS kind, link[2] AS told
  MERGE (into)-[own:$(kind)]->(other)
  ON CREATE SET own += told
  ON MATCH SET own.weight = CASE WHEN own.weight < told.weight THEN told.weight ELSE own.weight END
}
CALL (into, gone, each) {
  MATCH (gone)<-[edge:PRECEDES|CAUSES|ENABLES|RELATES_TO|CONTRADICTS|SUPPORTS|REFINES|ABSTRACTS|EVOKES|REMINDS_OF|TEMPORAL_EVOLUTION]-(other:Memory)
  WHERE other <> into
  WITH into, other, type(edge) AS kind, properties(edge) AS told ORDER BY told.weight DESC, other.id LIMIT 1000
  WITH into, collect([other, kind, told])[..each.most] AS links
  UNWIND links AS link
  WITH into, link[0] AS other, link[1] AS kind, link[2] AS told
  MERGE (into)<-[own:$(kind)]-(other)
  ON CREATE SET own += told
  ON MATCH SET own.weight = CASE WHEN own.weight < told.weight THEN told.weight ELSE own.weight END
}
CALL (into, gone) {
  MATCH (gone)-[edge:INVOLVES|ABOUT|LOCATED_AT]->(entity:Entity)
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
RETURN count(gone) AS memories
