// Drop a batch of sealed embeddings, of any student; they are made anew from what they were made of.
// mode: write
// scope: service
// params: batch: int
// returns: dropped: int
MATCH (node:Companion|Memory|LedgerEntry)
WHERE node.prediction_embedding IS NOT NULL OR node.embedding IS NOT NULL
WITH node LIMIT $batch
REMOVE node.prediction_embedding, node.embedding
RETURN count(node) AS dropped
