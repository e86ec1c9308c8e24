// Link memories; an edge that exists keeps the greater weight. One of its ends counts as written, so that others see it.
// mode: write
// scope: student
// params: institution: str, student_id: str, edges: list, written: int
// returns: edges: int, touched: list of map
UNWIND $edges AS edge
MATCH (from:Memory {institution: $institution, student_id: $student_id, id: edge.from_id})
USING INDEX from:Memory(institution, student_id, id)
MATCH (to:Memory {institution: $institution, student_id: $student_id, id: edge.to_id})
USING INDEX to:Memory(institution, student_id, id)
MERGE (from)-[relation:$(edge.type)]->(to)
ON CREATE SET relation += edge.properties
ON MATCH SET relation.weight = CASE WHEN relation.weight < edge.properties.weight
                                    THEN edge.properties.weight ELSE relation.weight END
SET from.written = CASE WHEN to.written = $written THEN from.written ELSE $written END
RETURN count(relation) AS edges,
       collect(DISTINCT {label: 'Memory', id: edge.from_id, links: [edge.type]}) +
       collect(DISTINCT CASE edge.type WHEN 'ABSTRACTS' THEN {label: 'Memory', id: edge.to_id, links: ['ABSTRACTS']} END) AS touched
