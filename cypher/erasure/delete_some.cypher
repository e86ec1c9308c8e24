// Delete some stored nodes of a student whose erasure has begun; no row before that.
// mode: write
// scope: student
// params: institution: str, student_id: str, limit: int
// returns: memories: int, edges: int, ledger: int, facts: int, uncertainties: int, jobs: int, other: int
MATCH (erasure:Erasure {institution: $institution, student_id: $student_id})
CALL () {
  MATCH (node:Job {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:Memory {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:Fact {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:LedgerEntry {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:Uncertainty {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:Compression {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:Turn {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:Source {institution: $institution, student_id: $student_id})
  WHERE node.kind IS NOT NULL AND node.ref IS NOT NULL RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:Entity {institution: $institution, student_id: $student_id})
  WHERE node.key IS NOT NULL RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:Concern {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:Question {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:Reflection {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:Usage {institution: $institution, student_id: $student_id})
  WHERE node.day IS NOT NULL AND node.kind IS NOT NULL RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:StudentBudget {institution: $institution, student_id: $student_id})
  WHERE node.day IS NOT NULL RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:Reservation {institution: $institution, student_id: $student_id})
  WHERE node.job_id IS NOT NULL AND node.day IS NOT NULL RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:Companion {institution: $institution, student_id: $student_id}) RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:OpenSession {institution: $institution, student_id: $student_id})
  WHERE node.id IS NOT NULL RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:ManifestPage {institution: $institution, student_id: $student_id})
  WHERE node.number IS NOT NULL RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:ManifestNote {institution: $institution, student_id: $student_id}) RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:TamperedValue {institution: $institution, student_id: $student_id})
  WHERE node.label IS NOT NULL AND node.node_id IS NOT NULL AND node.field IS NOT NULL RETURN node LIMIT $limit
  UNION ALL
  MATCH (node:PasswordTry {institution: $institution, student_id: $student_id})
  WHERE node.caller IS NOT NULL RETURN node LIMIT $limit
}
WITH collect(DISTINCT node) AS nodes
CALL (nodes) {
  UNWIND nodes AS node
  OPTIONAL MATCH (node)-[relation]-()
  RETURN count(DISTINCT relation) AS edges
}
WITH nodes, edges,
     size([node IN nodes WHERE node:Memory]) AS memories, size([node IN nodes WHERE node:LedgerEntry]) AS ledger,
     size([node IN nodes WHERE node:Fact]) AS facts, size([node IN nodes WHERE node:Job]) AS jobs,
     size([node IN nodes WHERE node:Uncertainty]) AS uncertainties
FOREACH (node IN nodes | DETACH DELETE node)
RETURN memories, edges, ledger, facts, uncertainties, jobs,
       size(nodes) - memories - ledger - facts - uncertainties - jobs AS other
