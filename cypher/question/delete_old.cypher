// Delete answered questions and reflections of a student by their ids, those older than a moment.
// mode: write
// scope: student
// params: institution: str, student_id: str, ids: list of str, before: datetime
// returns: deleted: int, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
CALL () {
  UNWIND $ids AS id
  MATCH (question:Question {institution: $institution, student_id: $student_id, id: id})
  WHERE question.answered_at < $before
  RETURN question AS node, {label: 'Question', id: id, gone: true} AS place
  UNION ALL
  UNWIND $ids AS id
  MATCH (reflection:Reflection {institution: $institution, student_id: $student_id, id: id})
  WHERE reflection.created_at < $before
  RETURN reflection AS node, {label: 'Reflection', id: id, gone: true} AS place
}
DETACH DELETE node
RETURN count(*) AS deleted, collect(place) AS touched
