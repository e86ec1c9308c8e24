// Give memories of an older schema their roles, from what their ids and edges say.
// mode: write
// scope: service
// params:
// returns: memories: int
MATCH (memory:Memory) WHERE memory.role IS NULL
CALL (memory) {
  SET memory.role = CASE
      WHEN memory.id STARTS WITH 'episode-' THEN 'episode'
      WHEN memory.id STARTS WITH 'belief-' THEN 'belief'
      WHEN memory.id STARTS WITH 'procedure-' THEN 'procedure'
      WHEN EXISTS { (memory)-[:ABSTRACTS]->(:Memory) } THEN 'topic'
      ELSE 'said'
    END
  REMOVE memory.episode
} IN TRANSACTIONS OF 1000 ROWS
RETURN count(memory) AS memories
