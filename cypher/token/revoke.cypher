// Revoke a service token, for good; no row without such a token. Twice is as once.
// mode: write
// scope: institution
// params: institution: str, id: str, now: datetime
// returns: id: str, name: str, role: str, created_at: datetime, expires_at: datetime, used_at: datetime, revoked_at: datetime
MATCH (token:ServiceToken {id: $id})
WHERE token.institution = $institution
SET token.revoked_at = coalesce(token.revoked_at, $now)
RETURN token.id AS id, token.name AS name, token.role AS role, token.created_at AS created_at,
       token.expires_at AS expires_at, token.used_at AS used_at, token.revoked_at AS revoked_at
