// Student, companion and session as a turn depends on them; no row without such a student.
// mode: read, planned
// scope: student
// params: institution: str, student_id: str, session_id: str, turn_id: str, now: datetime
// returns: version: int, turns: int, facts: int, signals: list of float, corrected_signals: list of float, corrected_levels: list of str, verdicts: list of str, asked_turn: int, episode_turn: int, questions: list of map, false_alarms: list of [id: str, kind: str, urgency: int, text: bytes], tolerance: float, expertise: list, persona: bytes, prediction: bytes, prediction_embedding: bytes, open: bool, turn: map, handled: bool
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (companion:Companion {institution: $institution, student_id: $student_id})
OPTIONAL MATCH (session:OpenSession {institution: $institution, student_id: $student_id})
WHERE session.id = $session_id AND session.expires_at > $now
OPTIONAL MATCH (turn:Turn {institution: $institution, student_id: $student_id, id: $turn_id})
OPTIONAL MATCH (source:Source {institution: $institution, student_id: $student_id, kind: 'chat', ref: $turn_id})
RETURN student.version AS version, student.turns AS turns, student.facts AS facts,
       coalesce(student.signals, []) AS signals,
       coalesce(student.corrected_signals, []) AS corrected_signals,
       coalesce(student.corrected_levels, []) AS corrected_levels, coalesce(student.verdicts, []) AS verdicts,
       coalesce(student.asked_turn, 0) AS asked_turn, coalesce(student.episode_turn, 0) AS episode_turn,
       COLLECT { MATCH (question:Question {institution: $institution, student_id: $student_id})
                 WHERE question.id IS NOT NULL AND question.state = 'waiting'
                 RETURN question {.*}
                 ORDER BY question.created_at, question.id LIMIT 10 } AS questions,
       COLLECT { MATCH (concern:Concern {institution: $institution, student_id: $student_id})
                 WHERE concern.id IS NOT NULL AND concern.corrected_at IS NOT NULL AND concern.text IS NOT NULL
                 RETURN [concern.id, concern.kind, concern.urgency, concern.text]
                 ORDER BY concern.corrected_at DESC, concern.id LIMIT 50 } AS false_alarms,
       companion.tolerance AS tolerance, companion.expertise AS expertise, companion.persona AS persona,
       companion.prediction AS prediction, companion.prediction_embedding AS prediction_embedding,
       session IS NOT NULL AS open,
       turn {.id, .state, .text, .reply, .replied_by, .given_reply, .task, .opener, .used, .outcome, .at} AS turn,
       source IS NOT NULL AS handled
