// Institutions that have a world.
// mode: read
// scope: service
// params:
// returns: institution: str
MATCH (world:World)
RETURN world.institution AS institution ORDER BY institution
