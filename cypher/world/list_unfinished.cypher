// Worlds whose import has not ended and gave no sign of life since a moment.
// mode: read
// scope: service
// params: before: datetime
// returns: institution: str, worlds: list of str
MATCH (world:World)
WHERE size(world.unfinished) > 0 AND world.importing_at < $before
RETURN world.institution AS institution, world.unfinished AS worlds ORDER BY institution
