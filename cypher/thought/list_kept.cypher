// The memories of some turns' messages: of each turn that has any how many wait for consolidation, and how many were consolidated.
// mode: read
// scope: student
// params: institution: str, student_id: str, turn_ids: list of str
// returns: turn_id: str, waiting: int, consolidated: int
UNWIND $turn_ids AS turn_id
MATCH (source:Source {institution: $institution, student_id: $student_id, kind: 'chat', ref: turn_id})
MATCH (source)<-[:FORMED_FROM]-(memory:Memory {institution: $institution, student_id: $student_id})
// Memories that a surprise forms of a message are kept whatever consolidation decides.
WHERE memory.role IN ['said', 'summary']
RETURN turn_id, sum(CASE WHEN memory.considered = false THEN 1 ELSE 0 END) AS waiting,
       sum(CASE WHEN memory.consolidated THEN 1 ELSE 0 END) AS consolidated
