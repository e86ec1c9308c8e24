// The neighbourhood of a memory, at most three strong enough edges away, and the edges within it.
// Where a moment is given, by and of what held at it; an edge is as old as what it links, since it is written later.
// mode: read
// scope: student
// params: institution: str, student_id: str, id: str, hops: int, min_weight: float, as_of: datetime or null, limit: int
// returns: ids: list of str, edges: list of [type: str, weight: float, from_id: str, to_id: str, to_label: str, created_at: int in ms, reliability: str]
MATCH (start:Memory {institution: $institution, student_id: $student_id, id: $id})
USING INDEX start:Memory(institution, student_id, id)
WHERE $as_of IS NULL OR (coalesce(start.valid_at, start.timestamp) <= $as_of AND coalesce(start.invalid_at > $as_of, true))
CALL (start) {
  OPTIONAL MATCH path = (start) (()-[edge:PRECEDES|CAUSES|ENABLES|RELATES_TO|CONTRADICTS|SUPPORTS|REFINES|ABSTRACTS|EVOKES|REMINDS_OF|TEMPORAL_EVOLUTION]-(step:Memory {institution: $institution, student_id: $student_id})
                                  WHERE edge.weight >= $min_weight
                                    AND ($as_of IS NULL OR (coalesce(step.valid_at, step.timestamp) <= $as_of
                                                            AND coalesce(step.invalid_at > $as_of, true)))){1,3} (near)
  WHERE length(path) <= $hops
  WITH near, min(length(path)) AS hops
  ORDER BY hops, near.id LIMIT $limit
  RETURN collect(near) AS near
}
WITH [start] + CASE WHEN $hops = 0 THEN [] ELSE [memory IN near WHERE memory <> start] END AS memories
CALL (memories) {
  UNWIND memories AS from
  MATCH (from)-[edge]->(to:Memory)
  WHERE to IN memories AND edge.weight >= $min_weight
  RETURN collect([type(edge), edge.weight, from.id, to.id, 'Memory', edge.created_at.epochMillis,
                  coalesce(edge.reliability, 'reliable')]) AS edges
}
RETURN [memory IN memories | memory.id] AS ids, edges
