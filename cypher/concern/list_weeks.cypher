// Counts and means of some weeks of a student, of what is clear.
// mode: read
// scope: student
// params: institution: str, student_id: str, weeks: list
// returns: week: str, turns: int, mean_valence: float, emotional_memories: int, threats: int, secrets: int, mean_surprise: float
UNWIND $weeks AS week
CALL (week) {
  OPTIONAL MATCH (memory:Memory {institution: $institution, student_id: $student_id})
  WHERE memory.timestamp >= week.start AND memory.timestamp < week.end AND memory.role = 'said'
  RETURN avg(memory.valence) AS mean_valence, avg(memory.surprise) AS mean_surprise,
         sum(CASE WHEN memory:Emotional THEN 1 ELSE 0 END) AS emotional_memories
}
RETURN toString(date(week.start)) AS week,
       COUNT { MATCH (source:Source {institution: $institution, student_id: $student_id, kind: 'chat'})
               WHERE source.ref IS NOT NULL
                 AND source.at >= week.start AND source.at < week.end } AS turns,
       mean_valence, emotional_memories,
       COUNT { MATCH (concern:Concern {institution: $institution, student_id: $student_id})
               WHERE concern.id IS NOT NULL
                 AND concern.at >= week.start AND concern.at < week.end
                 AND concern.corrected_at IS NULL } AS threats,
       COUNT { MATCH (:Student {institution: $institution, id: $student_id})-[:KEEPS]->
                     (entry:LedgerEntry {institution: $institution, student_id: $student_id, category: 'secret'})
               WHERE entry.created_at >= week.start AND entry.created_at < week.end } AS secrets,
       mean_surprise
ORDER BY week
