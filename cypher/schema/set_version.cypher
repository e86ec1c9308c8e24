// Record the schema version that the data of this database has.
// mode: write
// scope: service
// params: version: int
// returns: version: int
MATCH (schema:Schema {id: 'graphmem'})
SET schema.version = $version
RETURN schema.version AS version
