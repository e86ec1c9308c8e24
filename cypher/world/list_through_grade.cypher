// Ids of an institution's concepts that are taught up to a school year.
// mode: read
// scope: institution
// params: institution: str, grade: int
// returns: id: str
MATCH (concept:Concept {institution: $institution}) WHERE concept.id IS NOT NULL AND concept.grade <= $grade
RETURN concept.id AS id
