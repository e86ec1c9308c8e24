// How many jobs and turns there were, and how many memories a job confirmed twice: each source but the first confirms a memory once.
MATCH (student:Student {institution: $institution})
OPTIONAL MATCH (memory:Memory {institution: $institution, student_id: student.id, merged_count: 0})
WHERE NOT EXISTS { (:Uncertainty {institution: $institution, student_id: student.id})-[:CONCERNS]->(memory) }
WITH student, memory, COUNT { (memory)-[:FORMED_FROM]->(:Source) } AS sources
WITH student, sum(CASE WHEN sources > 0 AND memory.reinforcement_count >= sources THEN 1 ELSE 0 END) AS doubled
RETURN sum(doubled) AS doubled,
       sum(COUNT { (:Job {institution: $institution, student_id: student.id}) }) AS jobs,
       sum(COUNT { (source:Source {institution: $institution, student_id: student.id}) WHERE source.kind = 'chat' }) AS turns
