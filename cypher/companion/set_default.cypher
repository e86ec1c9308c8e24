// Set the companion that an institution's new students get.
// mode: write
// scope: institution
// params: institution: str, called: str, persona: str, expertise: list of str
// returns: institution: str
MERGE (companion:DefaultCompanion {institution: $institution})
SET companion.name = $called, companion.persona = $persona, companion.expertise = $expertise
RETURN companion.institution AS institution
