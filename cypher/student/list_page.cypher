// A page of an institution's students by id, with counts, and how many students there are.
// mode: read
// scope: institution
// params: institution: str, after: str, limit: int
// returns: total: int, students: list of [id: str, created_at: datetime, memories: int, waiting_jobs: int]
CALL () {
  MATCH (student:Student {institution: $institution})
  WHERE student.id > $after
  WITH student ORDER BY student.id LIMIT $limit
  WITH student.id AS id, student.created_at AS created_at
  RETURN collect([
    id, created_at,
    COUNT { (memory:Memory {institution: $institution, student_id: id}) WHERE memory.id IS NOT NULL },
    COUNT { (:Job {institution: $institution, student_id: id, state: 'waiting'}) }
  ]) AS students
}
RETURN COUNT { (student:Student {institution: $institution}) WHERE student.id IS NOT NULL } AS total, students
