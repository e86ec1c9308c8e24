// A service token that was not revoked; no row without one.
// mode: read
// scope: institution
// params: institution: str, id: str
// returns: used_at: datetime
MATCH (token:ServiceToken {id: $id})
WHERE token.institution = $institution AND token.revoked_at IS NULL
RETURN token.used_at AS used_at
