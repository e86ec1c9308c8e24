CREATE CONSTRAINT ledger_entry_unique IF NOT EXISTS FOR (n:LedgerEntry) REQUIRE (n.institution, n.student_id, n.id) IS UNIQUE
