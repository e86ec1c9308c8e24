// Take students, of any institution, whose last drift cycle was before some moment.
// mode: write
// scope: service
// params: before: datetime, now: datetime, limit: int
// returns: institution: str, id: str, token: bytes or null
MATCH (student:Student)
WHERE coalesce(student.decayed_at, student.created_at) <= $before
WITH student ORDER BY coalesce(student.decayed_at, student.created_at), student.institution, student.id LIMIT $limit
// Writing the student locks it, so that one that another process has just taken is seen as such.
SET student.jobs_at = coalesce(student.jobs_at, $now)
WITH student WHERE coalesce(student.decayed_at, student.created_at) <= $before
SET student.decayed_at = $now
WITH student
RETURN student.institution AS institution, student.id AS id, HEAD(COLLECT {
  MATCH (session:OpenSession {institution: student.institution, student_id: student.id})
  WHERE session.expires_at > $now
  RETURN session.token ORDER BY session.expires_at DESC LIMIT 1
}) AS token
