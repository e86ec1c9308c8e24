// Queue the questions to the student that an episode raises, and keep what the companion reflects on it.
// mode: write
// scope: student
// params: institution: str, student_id: str, episode_id: str, raised: list
// returns: raised: int, touched: list of map
MATCH (episode:Memory {institution: $institution, student_id: $student_id, id: $episode_id})
USING INDEX episode:Memory(institution, student_id, id)
UNWIND $raised AS each
CREATE (node:$(each.label) {institution: $institution, student_id: $student_id})
SET node += each.properties
CREATE (episode)-[:RAISES]->(node)
RETURN count(node) AS raised,
       collect(DISTINCT {label: each.label, id: node.id, made: true, links: ['RAISES']}) AS touched
