CREATE INDEX usage_by_day IF NOT EXISTS FOR (n:Usage) ON (n.day)
