// Add concepts to an institution's world, or change those that are there.
// mode: write
// scope: institution
// params: institution: str, concepts: list, now: datetime
// returns: concepts: int
UNWIND $concepts AS given
MERGE (concept:Concept {institution: $institution, id: given.id})
ON CREATE SET concept.created_at = $now
SET concept += given
RETURN count(concept) AS concepts
