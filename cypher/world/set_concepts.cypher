// Add concepts to an institution's world, or change those that are there; the world's version goes up.
// mode: write
// scope: institution
// params: institution: str, concepts: list, now: datetime
// returns: concepts: int
MERGE (world:World {institution: $institution})
SET world.version = coalesce(world.version, 0) + 1
WITH world
UNWIND $concepts AS given
MERGE (concept:Concept {institution: $institution, id: given.id})
ON CREATE SET concept.created_at = $now
SET concept += given
RETURN count(concept) AS concepts
