CREATE INDEX open_session_by_expiry IF NOT EXISTS FOR (n:OpenSession) ON (n.expires_at)
