// The edges between a student's memories. Nothing when the session has ended.
// mode: read
// scope: student
// params: institution: str, student_id: str, session_id: str, now: datetime
// returns: edges: list of [type: str, weight: float, from_id: str, to_id: str, to_label: str, created_at: int in ms]
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now
CALL () {
  MATCH (from:Memory {institution: $institution, student_id: $student_id})
        -[edge:PRECEDES|CAUSES|ENABLES|RELATES_TO|CONTRADICTS|SUPPORTS|REFINES|ABSTRACTS|EVOKES|REMINDS_OF|TEMPORAL_EVOLUTION]->
        (to:Memory)
  WHERE from.id IS NOT NULL
  RETURN collect([type(edge), edge.weight, from.id, to.id, 'Memory', edge.created_at.epochMillis]) AS edges
}
RETURN edges
