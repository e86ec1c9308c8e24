// Give the relationships of some memories the reliability of the less reliable end; what was settled about one stays.
// These memories count as written, so that others see it.
// mode: write
// scope: student
// params: institution: str, student_id: str, rows: list, written: int
// returns: touched: list of map
UNWIND $rows AS id
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: id})
USING INDEX memory:Memory(institution, student_id, id)
SET memory.written = $written
WITH memory
MATCH (memory)-[edge:CAUSES|ENABLES|RELATES_TO|SUPPORTS|REFINES|ABSTRACTS|EVOKES|REMINDS_OF]-(other:Memory)
WITH edge, [memory.reliability, other.reliability] AS ends
SET edge.reliability = CASE
  WHEN edge.settled IS NOT NULL THEN edge.settled
  WHEN 'superseded' IN ends THEN 'superseded'
  WHEN 'contradicted' IN ends THEN 'contradicted'
  WHEN 'uncertain' IN ends THEN 'uncertain'
  ELSE 'reliable' END
RETURN collect(DISTINCT {label: 'Memory', id: startNode(edge).id, links: [type(edge)]}) AS touched
