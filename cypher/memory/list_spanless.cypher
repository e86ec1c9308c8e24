// The memories of a student that name no place in any source.
// mode: read
// scope: student
// params: institution: str, student_id: str
// returns: ids: list of str
MATCH (memory:Memory {institution: $institution, student_id: $student_id})
WHERE NOT EXISTS {
  MATCH (memory)-[span:FORMED_FROM]->(:Source {institution: $institution, student_id: $student_id})
  WHERE span.start >= 0 AND span.end > span.start
}
RETURN collect(memory.id) AS ids
