// Delete concepts of an institution's world, with what students knew of them; the world's version goes up.
// mode: write
// scope: institution
// params: institution: str, ids: list
// returns: concepts: int
MERGE (world:World {institution: $institution})
SET world.version = coalesce(world.version, 0) + 1
WITH world
UNWIND $ids AS id
MATCH (concept:Concept {institution: $institution, id: id})
DETACH DELETE concept
RETURN count(*) AS concepts
