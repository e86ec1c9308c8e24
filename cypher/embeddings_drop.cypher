// Drop a batch of sealed embeddings, of any student; they are made anew from what they were made of.
// mode: write
// scope: service
// params: batch: int
// returns: dropped: int
MATCH (companion:Companion)
WHERE companion.prediction_embedding IS NOT NULL
WITH companion LIMIT $batch
REMOVE companion.prediction_embedding
RETURN count(companion) AS dropped
