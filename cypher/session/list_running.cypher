// List the given students whose session runs, of any institution.
// mode: read
// scope: service
// params: students: list, now: datetime
// returns: institution: str, student_id: str
UNWIND $students AS held
MATCH (session:OpenSession {institution: held.institution, student_id: held.student_id})
WHERE session.id IS NOT NULL AND session.expires_at > $now
RETURN DISTINCT held.institution AS institution, held.student_id AS student_id
