// Delete some stored nodes of a student whose erasure has begun; no row before that.
// mode: write
// scope: student
// params: institution: str, student_id: str, limit: int
// returns: memories: int, edges: int, ledger: int, facts: int, uncertainties: int, jobs: int, other: int
MATCH (erasure:Erasure {institution: $institution, student_id: $student_id})
CALL () {
  EACH(all but Student) MATCH NODES RETURN node LIMIT $limit
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
