// Students whose erasure has begun and not ended, the oldest first, of every institution.
// mode: read
// scope: service
// params: before: datetime, limit: int
// returns: institution: str, student_id: str
MATCH (erasure:Erasure) WHERE erasure.at < $before
RETURN erasure.institution AS institution, erasure.student_id AS student_id
ORDER BY erasure.at LIMIT $limit
