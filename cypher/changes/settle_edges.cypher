// Set the reliability of relationships that was settled about them; null takes that back.
// One end of each counts as written, so that others see it.
// mode: write
// scope: student
// params: institution: str, student_id: str, edges: list, written: int
// returns: edges: int, touched: list of map
UNWIND $edges AS edge
MATCH (from:Memory {institution: $institution, student_id: $student_id, id: edge.from_id})
USING INDEX from:Memory(institution, student_id, id)
MATCH (to:Memory {institution: $institution, student_id: $student_id, id: edge.to_id})
USING INDEX to:Memory(institution, student_id, id)
MATCH (from)-[relation:$(edge.type)]->(to)
SET relation.settled = edge.settled, relation.reliability = coalesce(edge.settled, 'reliable'),
    from.written = $written
RETURN count(relation) AS edges,
       collect(DISTINCT {label: 'Memory', id: edge.from_id, links: [edge.type]}) +
       collect(DISTINCT CASE edge.type WHEN 'ABSTRACTS' THEN {label: 'Memory', id: edge.to_id, links: ['ABSTRACTS']} END) AS touched
