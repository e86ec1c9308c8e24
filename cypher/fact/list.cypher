// A student's facts, newest first; those learned by a moment, where one is given.
// mode: read, planned
// scope: student
// params: institution: str, student_id: str, as_of: datetime or null, limit: int
// returns: facts: list of map
MATCH (fact:Fact {institution: $institution, student_id: $student_id})
// True of every fact: without it the index by seq would not be used.
WHERE fact.seq > 0 AND ($as_of IS NULL OR fact.created_at <= $as_of)
WITH fact ORDER BY fact.seq DESC LIMIT $limit
// One row for all: a record of its own for each would take the driver ten times as long.
RETURN collect(fact {.*, created_at: fact.created_at.epochMillis, invalid_at: fact.invalid_at.epochMillis}) AS facts
