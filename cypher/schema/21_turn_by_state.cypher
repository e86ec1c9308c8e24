CREATE INDEX turn_by_state IF NOT EXISTS FOR (n:Turn) ON (n.state, n.received_at)
