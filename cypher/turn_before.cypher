// Everything a turn needs to know that may have changed: one row, unless there is no such student.
// mode: read
// scope: student
// params: institution: str, student_id: str, session_id: str, turn_id: str, now: datetime
// returns: version: int, turns: int, facts: int, tolerance: float, expertise: list, persona: bytes, prediction: bytes, prediction_embedding: bytes, open: bool, turn: map, handled: bool
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (companion:Companion {institution: $institution, student_id: $student_id})
OPTIONAL MATCH (session:OpenSession {institution: $institution, student_id: $student_id})
WHERE session.id = $session_id AND session.expires_at > $now
OPTIONAL MATCH (turn:Turn {institution: $institution, student_id: $student_id, id: $turn_id})
OPTIONAL MATCH (source:Source {institution: $institution, student_id: $student_id, kind: 'chat', ref: $turn_id})
RETURN student.version AS version, student.turns AS turns, student.facts AS facts,
       companion.tolerance AS tolerance, companion.expertise AS expertise, companion.persona AS persona,
       companion.prediction AS prediction, companion.prediction_embedding AS prediction_embedding,
       session IS NOT NULL AS open,
       turn {.id, .state, .text, .reply, .given_reply, .outcome, .at} AS turn,
       source IS NOT NULL AS handled
