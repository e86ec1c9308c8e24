MATCH (s:Student {institution: $institution, id: $student_id})
OPTIONAL MATCH said = (s)-[:SAID]->(turn:Turn)-[:FORMED_FROM]->(:Source)
WITH s, said ORDER BY turn.seq
WITH s, collect(said) AS turns
OPTIONAL MATCH learned = (s)<-[:ACCOMPANIES]-(:Companion)-[:LEARNED]->(fact:Fact)-[:FORMED_FROM]->(:Source)
WITH s, turns, learned ORDER BY fact.seq
RETURN s, turns, collect(learned) AS facts
