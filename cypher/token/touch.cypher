// Note that a service token is used.
// mode: write
// scope: institution
// params: institution: str, id: str, now: datetime
// returns:
MATCH (token:ServiceToken {id: $id})
WHERE token.institution = $institution
SET token.used_at = $now
