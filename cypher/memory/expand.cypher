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
  MATCH (seed)-[one:PRECEDES|CAUSES|ENABLES|RELATES_TO|CONTRADICTS|SUPPORTS|REFINES|ABSTRACTS|EVOKES|REMINDS_OF|TEMPORAL_EVOLUTION]-(near:Memory)
  WHERE one.weight >= $min_weight AND near.student_id = $student_id AND near.institution = $institution
  WITH seed, near, one, one.weight * $factors[coalesce(one.reliability, 'reliable')] AS nearness
  // Each hop by itself: a quantified path takes nearly twice as long.
  CALL (near, one, nearness) {
    RETURN near AS reached, nearness AS weight, [type(one)] AS types
    UNION ALL
    // Not through an episode or a lesson: what was said in one sitting need not have to do with each other.
    WITH * WHERE NOT near.role IN ['episode', 'lesson']
    MATCH (near)-[two:PRECEDES|CAUSES|ENABLES|RELATES_TO|CONTRADICTS|SUPPORTS|REFINES|ABSTRACTS|EVOKES|REMINDS_OF|TEMPORAL_EVOLUTION]-(far:Memory)
    WHERE two <> one AND two.weight >= $min_weight AND far.student_id = $student_id AND far.institution = $institution
    RETURN far AS reached, nearness * two.weight * $factors[coalesce(two.reliability, 'reliable')] AS weight,
           [type(one), type(two)] AS types
  }
  WITH reached, seed, weight, types WHERE NOT reached.id IN $ids
  ORDER BY weight DESC, reached.id
  WITH reached, collect([seed.id, weight, types])[0] AS best
  ORDER BY best[1] DESC, reached.id LIMIT $limit
  RETURN collect([reached.id, best[0], best[1], best[2], reached.gravity, reached.last_accessed.epochMillis,
                  reached.access_count, reached.reliability]) AS reached
}
OPTIONAL MATCH (world:World {institution: $institution})
RETURN student.memory_version AS version, student.version AS student_version, coalesce(world.version, 0) AS world,
       coalesce(student.overlay_version, 0) AS overlay, found, reached
