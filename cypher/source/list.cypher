// Sources of a student, oldest first.
// mode: read
// scope: student
// params: institution: str, student_id: str
// returns: id: str, kind: str, ref: str, at: datetime
MATCH (source:Source {institution: $institution, student_id: $student_id})
WHERE source.kind IS NOT NULL AND source.ref IS NOT NULL
RETURN source.id AS id, source.kind AS kind, source.ref AS ref, source.at AS at
ORDER BY at, id
