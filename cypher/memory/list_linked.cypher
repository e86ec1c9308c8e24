// A page of a student's memories that were written after a version, by id: how each stands, and its strong edges.
// mode: read, planned
// scope: student
// params: institution: str, student_id: str, since: int, after: str, min_weight: float, limit: int
// returns: memories: list of [id: str, gravity: float, last_accessed: int in ms, access_count: int, edges: list of [other_id: str, type: str, outgoing: bool, weight: float, reliability: str]]
MATCH (memory:Memory {institution: $institution, student_id: $student_id})
USING INDEX memory:Memory(institution, student_id, written)
WHERE memory.written > $since AND memory.id > $after
WITH memory ORDER BY memory.id LIMIT $limit
RETURN collect([
  memory.id, memory.gravity, memory.last_accessed.epochMillis, memory.access_count,
  COLLECT {
    MATCH (memory)-[edge:PRECEDES|CAUSES|ENABLES|RELATES_TO|CONTRADICTS|SUPPORTS|REFINES|ABSTRACTS|EVOKES|REMINDS_OF|TEMPORAL_EVOLUTION]-(other:Memory)
    WHERE edge.weight >= $min_weight AND other.institution = $institution AND other.student_id = $student_id
    RETURN [other.id, type(edge), startNode(edge) = memory, edge.weight, coalesce(edge.reliability, 'reliable')]
  }
]) AS memories
