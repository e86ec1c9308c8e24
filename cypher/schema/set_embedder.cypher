// Record which embedding model this database holds vectors of.
// mode: write
// scope: service
// params: version: int, embedder: str, dimension: int, now: datetime
// returns: embedder: str
MERGE (schema:Schema {id: 'graphmem'})
ON CREATE SET schema.version = $version, schema.created_at = $now
SET schema.embedder = $embedder, schema.dimension = $dimension
RETURN schema.embedder AS embedder
