// Note that an import into one of an institution's worlds is under way.
// mode: write
// scope: institution
// params: institution: str, world: str, now: datetime
// returns: unfinished: list of str
MERGE (world:World {institution: $institution})
SET world.importing_at = $now,
    world.unfinished = [name IN coalesce(world.unfinished, []) WHERE name <> $world] + [$world]
RETURN world.unfinished AS unfinished
