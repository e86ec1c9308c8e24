// The answered turns of a student, oldest first.
// mode: read, planned
// scope: student
// params: institution: str, student_id: str
// returns: turns: list of map, their times in ms
MATCH (turn:Turn {institution: $institution, student_id: $student_id})
WHERE turn.id IS NOT NULL AND turn.state = 'answered'
WITH turn ORDER BY turn.seq
// One row for all: a record of its own for each would take the driver ten times as long.
RETURN collect(turn {.id, at: turn.at.epochMillis, .text, .reply, .replied_by, .task, .opener}) AS turns
