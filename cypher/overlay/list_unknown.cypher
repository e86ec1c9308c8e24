// List the given ids that are no concept of the institution's world.
// mode: read
// scope: institution
// params: institution: str, ids: list of str
// returns: id: str
UNWIND $ids AS id
WITH DISTINCT id WHERE NOT EXISTS { (:Concept {institution: $institution, id: id}) }
RETURN id
