// Mark the facts of an older schema that surprises taught, and give its jobs the number that ids are made with.
// mode: write
// scope: service
// params:
// returns: nodes: int
MATCH (node:Fact|Job)
WHERE (node:Fact AND node.origin IS NULL AND size(split(node.id, '-')) = 3)
   OR (node:Job AND node.seq IS NULL AND node.kind IN ['form', 'surprise', 'distil'])
CALL (node) {
  FOREACH (fact IN CASE WHEN node:Fact THEN [node] ELSE [] END | SET fact.origin = 'surprise')
  FOREACH (job IN CASE WHEN node:Job THEN [node] ELSE [] END | SET job.seq = toInteger(split(job.id, '-')[1]))
} IN TRANSACTIONS OF 1000 ROWS
RETURN count(node) AS nodes
