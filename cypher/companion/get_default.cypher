// The companion that an institution's new students get; no row where none was set.
// mode: read, planned
// scope: institution
// params: institution: str
// returns: name: str, persona: str, expertise: list of str
MATCH (companion:DefaultCompanion {institution: $institution})
RETURN companion.name AS name, companion.persona AS persona, companion.expertise AS expertise
