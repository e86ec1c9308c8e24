// Queue the questions to the student that a memory raises, and keep what the companion reflects on it.
// mode: write
// scope: student
// params: institution: str, student_id: str, memory_id: str, raised: list
// returns: raised: int, touched: list of map
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: $memory_id})
USING INDEX memory:Memory(institution, student_id, id)
UNWIND $raised AS each
CREATE (node:$(each.label) {institution: $institution, student_id: $student_id})
SET node += each.properties
CREATE (memory)-[:RAISES]->(node)
RETURN count(node) AS raised,
       collect(DISTINCT {label: each.label, id: node.id, made: true, links: ['RAISES']}) AS touched
