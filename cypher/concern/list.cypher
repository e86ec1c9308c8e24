// A student's concerns since a moment, newest first, those taken back too; nothing that was said.
// mode: read
// scope: student
// params: institution: str, student_id: str, since: datetime, limit: int
// returns: concern: map
MATCH (concern:Concern {institution: $institution, student_id: $student_id})
WHERE concern.at >= $since
RETURN concern {.*, text: null, note: null} AS concern
ORDER BY concern.at DESC, concern.id LIMIT $limit
