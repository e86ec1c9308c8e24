// Link memories to the concepts of the world that they are about.
// mode: write
// scope: student
// params: institution: str, student_id: str, topics: list
// returns: topics: int, touched: list of map
UNWIND $topics AS topic
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: topic.memory_id})
USING INDEX memory:Memory(institution, student_id, id)
MATCH (concept:Concept {institution: $institution, id: topic.concept_id})
MERGE (memory)-[relation:ABOUT]->(concept)
ON CREATE SET relation += topic.properties
RETURN count(relation) AS topics,
       collect(DISTINCT {label: 'Memory', id: memory.id, links: ['ABOUT']}) AS touched
