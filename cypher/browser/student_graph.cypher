MATCH (s:Student {institution: $institution, id: $student_id})
OPTIONAL MATCH said = (s)-[:SAID]->(turn:Turn)-[:FORMED_FROM]->(:Source)
WITH s, said ORDER BY turn.seq
WITH s, collect(said) AS turns
OPTIONAL MATCH learned = (s)<-[:ACCOMPANIES]-(:Companion)-[:LEARNED]->(fact:Fact)-[:FORMED_FROM]->(:Source)
WITH s, turns, learned ORDER BY fact.seq
WITH s, turns, collect(learned) AS facts
OPTIONAL MATCH remembered = (memory:Memory {institution: $institution, student_id: $student_id})-->(other)
WHERE other:Memory OR other:Entity OR other:Source
WITH s, turns, facts, remembered ORDER BY memory.timestamp DESC LIMIT 150
RETURN s, turns, facts, collect(remembered) AS memories
