// Uncertainties of a student, newest first: of some ids, some states, a severity, or about some memories, where these are given.
// mode: read, planned
// scope: student
// params: institution: str, student_id: str, ids: list of str, states: list of str, severity: str, memory_ids: list, limit: int
// returns: uncertainty: map, sides: list of [side: str, memory_id: str, type: str or null, to_id: str or null]
MATCH (doubt:Uncertainty {institution: $institution, student_id: $student_id})
WHERE doubt.id IS NOT NULL AND ($ids IS NULL OR doubt.id IN $ids)
  AND ($states IS NULL OR doubt.state IN $states) AND ($severity IS NULL OR doubt.severity = $severity)
MATCH (doubt)-[concerns:CONCERNS]->(memory:Memory {institution: $institution, student_id: $student_id})
WITH doubt, concerns, memory ORDER BY concerns.side
WITH doubt, collect([concerns.side, memory.id, concerns.type, concerns.to_id]) AS sides
WHERE $memory_ids IS NULL OR any(side IN sides WHERE side[1] IN $memory_ids)
WITH doubt, sides ORDER BY doubt.created_at DESC, doubt.id LIMIT $limit
RETURN properties(doubt) AS uncertainty, sides
