// Current standing of found memories, the memories at most two strong enough edges away from the seeds, and versions.
// Nothing when the session has ended.
// mode: read
// scope: student
// params: institution: str, student_id: str, session_id: str, ids: list, seeds: list, min_weight: float, limit: int, factors: map, now: datetime
// returns: version: int, student_version: int, world: int, overlay: int, found: list of [id: str, gravity: float, last_accessed: int in ms, access_count: int, reliability: str], reached: list of [id: str, seed: str, weight: float, types: list of str, gravity: float, last_accessed: int in ms, access_count: int, reliability: str]
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now
CALL () {
  UNWIND $ids AS id
  MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: id})
  USING INDEX memory:Memory(institution, student_id, id)
  RETURN collect([memory.id, memory.gravity, memory.last_accessed.epochMillis, memory.access_count,
                  memory.reliability]) AS found
}
CALL () {
  UNWIND $seeds AS id
  MATCH (seed:Memory {institution: $institution, student_id: $student_id, id: id})
  USING INDEX seed:Memory(institution, student_id, id)
  // Not through an episode or a lesson: what was said in one sitting need not have to do with each other.
  MATCH (seed) ((from)-[edge:PRECEDES|CAUSES|ENABLES|RELATES_TO|CONTRADICTS|SUPPORTS|REFINES|ABSTRACTS|EVOKES|REMINDS_OF|TEMPORAL_EVOLUTION]-(:Memory)
                WHERE edge.weight >= $min_weight AND (NOT from.role IN ['episode', 'lesson'] OR from = seed)){1,2} (reached)
  WHERE reached.student_id = $student_id AND reached.institution = $institution AND NOT reached.id IN $ids
  WITH reached, seed, edge, reduce(product = 1.0, e IN edge |
    product * e.weight * $factors[coalesce(e.reliability, 'reliable')]) AS weight
  ORDER BY weight DESC, reached.id
  WITH reached, collect([seed.id, weight, [e IN edge | type(e)]])[0] AS best
  ORDER BY best[1] DESC, reached.id LIMIT $limit
  RETURN collect([reached.id, best[0], best[1], best[2], reached.gravity, reached.last_accessed.epochMillis,
                  reached.access_count, reached.reliability]) AS reached
}
OPTIONAL MATCH (world:World {institution: $institution})
RETURN student.memory_version AS version, student.version AS student_version, coalesce(world.version, 0) AS world,
       coalesce(student.overlay_version, 0) AS overlay, found, reached
