// Mark a database into which a backup is restored; until it is finished no process starts on it.
// `empty` is false, and nothing is written, where it holds anything and no restore was cut short.
// mode: write
// scope: service
// params: embedder: str, dimension: int, version: int, now: datetime
// returns: empty: bool
MERGE (schema:Schema {id: 'graphmem'})
ON CREATE SET schema.created_at = $now, schema.restoring = true
WITH schema, coalesce(schema.restoring, false) OR NOT EXISTS { MATCH (node) WHERE NOT node:Schema AND NOT node:Probe } AS empty
FOREACH (each IN CASE WHEN empty THEN [schema] ELSE [] END |
  SET each.restoring = true, each.version = $version, each.embedder = $embedder, each.dimension = $dimension
)
RETURN empty
