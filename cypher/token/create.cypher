// Keep that a service token was made; the token itself is kept nowhere.
// mode: write
// scope: institution
// params: institution: str, token: map
// returns: id: str
MERGE (token:ServiceToken {id: $token.id})
ON CREATE SET token += $token, token.institution = $institution
RETURN token.id AS id
