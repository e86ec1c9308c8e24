// Set the companion that an institution's new students get.
// mode: write
// scope: institution
// params: institution: str, companion: map
// returns: institution: str
MERGE (companion:DefaultCompanion {institution: $institution})
SET companion.name = $companion.name, companion.persona = $companion.persona, companion.expertise = $companion.expertise
RETURN companion.institution AS institution
