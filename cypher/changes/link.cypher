// Link nodes that exist; a relationship that exists keeps the greater weight, and of a doubt there is one for each side.
// A memory that a relationship starts from counts as written, so that others see it.
// mode: write, planned
// scope: student
// nodes: Memory-Memory, Memory-Concept, Uncertainty-Memory
// params: institution: str, student_id: str, rows: list, written: int
// returns: touched: list of map
UNWIND $rows AS row
MATCH (from:FROM)
USING INDEX from:FROM_INDEX
MATCH (to:TO)
USING INDEX to:TO_INDEX
FOREACH (_ IN CASE WHEN row.side IS NULL THEN [1] ELSE [] END |
  MERGE (from)-[edge:$(row.type)]->(to)
  ON CREATE SET edge += row.properties
  ON MATCH SET edge.weight = CASE WHEN edge.weight < row.properties.weight THEN row.properties.weight ELSE edge.weight END)
FOREACH (_ IN CASE WHEN row.side IS NULL THEN [] ELSE [1] END |
  MERGE (from)-[edge:$(row.type) {side: row.side}]->(to)
  SET edge += row.properties)
SET from.written = CASE 'FROM_LABEL' WHEN 'Memory' THEN $written END
RETURN collect(DISTINCT {label: 'FROM_LABEL', id: row.from, links: [row.type]}) +
       collect(DISTINCT CASE row.type WHEN 'ABSTRACTS' THEN {label: 'TO_LABEL', id: row.to, links: [row.type]} END) AS touched
