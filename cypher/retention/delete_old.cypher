// Delete nodes past their retention, of any student, some at a time.
// mode: write
// scope: service
// params: tries_before: datetime, usage_before: datetime, jobs_before: datetime, limit: int
// returns: deleted: int
CALL () {
  MATCH (node:PasswordTry)
  WHERE node.at < $tries_before AND coalesce(node.until < $tries_before, true)
  RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:Usage) WHERE node.day < date($usage_before)
  RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:StudentBudget) WHERE node.day < date($usage_before)
  RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:Budget) WHERE node.day < date($usage_before)
  RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:Reservation) WHERE node.day < date($usage_before)
  RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:Job {state: 'dead'}) WHERE node.run_after < $jobs_before
  RETURN node LIMIT $limit
}
DETACH DELETE node
RETURN count(*) AS deleted
