// Number of a student's surprising turns and episodes by level, of those that formed memories.
// mode: read
// scope: student
// params: institution: str, student_id: str
// returns: level: str, turns: int, episodes: int, signal: float, flashbulbs: int, important: int, not_important: int
MATCH (memory:Memory {institution: $institution, student_id: $student_id})-[:FORMED_FROM]->(source:Source {kind: 'chat'})
// What was said again later belongs to that later turn too, but surprised when it was said first.
WHERE memory.timestamp = source.at AND memory.surprise_level IS NOT NULL
WITH source, memory ORDER BY memory.role = 'episode' DESC
// A turn counts at the level of its episode, which is the one that verdicts revise.
WITH source, head(collect(memory)) AS first, collect(memory) AS all
RETURN first.surprise_level AS level, count(*) AS turns, count(CASE WHEN first.role = 'episode' THEN 1 END) AS episodes,
       avg(first.surprise) AS signal, sum(size([memory IN all WHERE memory.flashbulb])) AS flashbulbs,
       count(CASE first.verdict WHEN 'was_important' THEN 1 END) AS important,
       count(CASE first.verdict WHEN 'was_not_important' THEN 1 END) AS not_important
ORDER BY signal DESC, level
