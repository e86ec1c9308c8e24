// Store a message before its reply is known; a known one stays as it is.
// mode: write
// scope: student
// params: institution: str, student_id: str, session_id: str, turn_id: str, turn: map, at: datetime, now: datetime
// returns: state: str
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
MERGE (turn:Turn {institution: $institution, student_id: $student_id, id: $turn_id})
ON CREATE SET turn += $turn, turn.state = 'received', turn.at = $at, turn.received_at = $now
MERGE (student)-[:SAID]->(turn)
RETURN turn.state AS state
