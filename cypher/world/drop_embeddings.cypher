// Drop embeddings of concepts, some at a time, with the institutions they belong to; no row when none is left.
// mode: write
// scope: service
// params: limit: int
// returns: institution: str, dropped: int
MATCH (concept:Concept) WHERE concept.embedding IS NOT NULL
WITH concept LIMIT $limit
REMOVE concept.embedding
RETURN concept.institution AS institution, count(*) AS dropped
