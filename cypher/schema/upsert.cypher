// Record version and embedding model of this database, unless they are recorded already.
// mode: write
// scope: service
// params: version: int, embedder: str, dimension: int, now: datetime
// returns: version: int, embedder: str, dimension: int, restoring: bool
MERGE (schema:Schema {id: 'graphmem'})
ON CREATE SET schema.version = $version, schema.embedder = $embedder, schema.dimension = $dimension,
              schema.created_at = $now
RETURN schema.version AS version, schema.embedder AS embedder, schema.dimension AS dimension,
       coalesce(schema.restoring, false) AS restoring
