// The response to the surprise that a memory was formed of, the verdict on it, and the memories of its message.
// mode: read
// scope: student
// params: institution: str, student_id: str, memory_id: str
// returns: memory_id: str, response: bytes, verdict: str, members: list of str
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: $memory_id})
// A memory that was said again belongs to the surprise, if any, with which it was said first.
OPTIONAL MATCH (memory)-[:FORMED_FROM]->(:Source)<-[:FORMED_FROM]-(begun:Memory)
WHERE begun.timestamp = memory.timestamp AND (begun.role = 'episode' OR begun.surprise_response IS NOT NULL)
WITH memory,
     CASE WHEN memory.role = 'episode' OR memory.surprise_response IS NOT NULL THEN memory ELSE begun END AS begun LIMIT 1
WITH coalesce(begun, memory) AS kept, begun
RETURN kept.id AS memory_id, kept.surprise_response AS response, kept.verdict AS verdict,
       COLLECT { MATCH (begun)-[:FORMED_FROM]->(:Source)<-[:FORMED_FROM]-(member:Memory)
                 WHERE member.timestamp = begun.timestamp AND member <> begun AND member.role <> 'lesson'
                 RETURN DISTINCT member.id } AS members
