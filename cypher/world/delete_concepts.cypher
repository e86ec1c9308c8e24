// Delete concepts of an institution's world, with what students knew of them.
// mode: write
// scope: institution
// params: institution: str, ids: list
// returns: concepts: int
UNWIND $ids AS id
MATCH (concept:Concept {institution: $institution, id: id})
DETACH DELETE concept
RETURN count(*) AS concepts
