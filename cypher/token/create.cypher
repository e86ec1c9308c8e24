// Keep that a service token was made; the token itself is kept nowhere.
// mode: write
// scope: institution
// params: institution: str, id: str, called: str, role: str, created_at: datetime, expires_at: datetime
// returns: id: str
MERGE (token:ServiceToken {id: $id})
ON CREATE SET token.institution = $institution, token.name = $called, token.role = $role,
              token.created_at = $created_at, token.expires_at = $expires_at
RETURN token.id AS id
