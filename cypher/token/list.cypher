// An institution's service tokens, the newest first, revoked and expired ones too.
// mode: read
// scope: institution
// params: institution: str, limit: int
// returns: id: str, name: str, role: str, created_at: datetime, expires_at: datetime, used_at: datetime, revoked_at: datetime
MATCH (token:ServiceToken)
WHERE token.institution = $institution
RETURN token.id AS id, token.name AS name, token.role AS role, token.created_at AS created_at,
       token.expires_at AS expires_at, token.used_at AS used_at, token.revoked_at AS revoked_at
ORDER BY token.created_at DESC, token.id LIMIT $limit
