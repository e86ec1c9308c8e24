// A student's facts, newest first.
// mode: read
// scope: student
// params: institution: str, student_id: str, limit: int
// returns: id: str, seq: int, created_at: datetime, text: bytes, tags: bytes
MATCH (fact:Fact {institution: $institution, student_id: $student_id})
RETURN fact.id AS id, fact.seq AS seq, fact.created_at AS created_at, fact.text AS text, fact.tags AS tags
ORDER BY fact.seq DESC
LIMIT $limit
