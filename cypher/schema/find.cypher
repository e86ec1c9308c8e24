// Version and embedding model of this database.
// mode: read
// scope: service
// params:
// returns: version: int, embedder: str, dimension: int
MATCH (schema:Schema {id: 'graphmem'})
RETURN schema.version AS version, schema.embedder AS embedder, schema.dimension AS dimension
