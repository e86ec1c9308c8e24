// Note that an import into one of an institution's worlds has ended, all of it.
// mode: write
// scope: institution
// params: institution: str, world: str
// returns: unfinished: list of str
MATCH (world:World {institution: $institution})
SET world.unfinished = [name IN coalesce(world.unfinished, []) WHERE name <> $world]
RETURN world.unfinished AS unfinished
