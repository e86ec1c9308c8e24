// Constraints and indexes; those that are missing are created one by one at start. Each may run again.

// An older schema allowed one session a student.
DROP CONSTRAINT open_session_unique IF EXISTS;
// And counted the tries of all callers as one.
DROP CONSTRAINT password_try_unique IF EXISTS;
// And counted usage without the prompt.
DROP CONSTRAINT usage_unique IF EXISTS;

// What is unique.
CREATE CONSTRAINT schema_unique IF NOT EXISTS FOR (n:Schema) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT student_unique IF NOT EXISTS FOR (n:Student) REQUIRE (n.institution, n.id) IS UNIQUE;
CREATE CONSTRAINT companion_unique IF NOT EXISTS FOR (n:Companion) REQUIRE (n.institution, n.student_id) IS UNIQUE;
CREATE CONSTRAINT default_companion_unique IF NOT EXISTS FOR (n:DefaultCompanion) REQUIRE n.institution IS UNIQUE;
CREATE CONSTRAINT session_unique IF NOT EXISTS FOR (n:OpenSession) REQUIRE (n.institution, n.student_id, n.id) IS UNIQUE;
CREATE CONSTRAINT try_unique IF NOT EXISTS FOR (n:PasswordTry) REQUIRE (n.institution, n.student_id, n.caller) IS UNIQUE;
CREATE CONSTRAINT service_token_unique IF NOT EXISTS FOR (n:ServiceToken) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT turn_unique IF NOT EXISTS FOR (n:Turn) REQUIRE (n.institution, n.student_id, n.id) IS UNIQUE;
CREATE CONSTRAINT fact_unique IF NOT EXISTS FOR (n:Fact) REQUIRE (n.institution, n.student_id, n.id) IS UNIQUE;
CREATE CONSTRAINT source_unique IF NOT EXISTS FOR (n:Source) REQUIRE (n.institution, n.student_id, n.kind, n.ref) IS UNIQUE;
CREATE CONSTRAINT job_unique IF NOT EXISTS FOR (n:Job) REQUIRE (n.institution, n.student_id, n.id) IS UNIQUE;
CREATE CONSTRAINT memory_unique IF NOT EXISTS FOR (n:Memory) REQUIRE (n.institution, n.student_id, n.id) IS UNIQUE;
CREATE CONSTRAINT ledger_entry_unique IF NOT EXISTS FOR (n:LedgerEntry) REQUIRE (n.institution, n.student_id, n.id) IS UNIQUE;
CREATE CONSTRAINT entity_unique IF NOT EXISTS FOR (n:Entity) REQUIRE (n.institution, n.student_id, n.key) IS UNIQUE;
CREATE CONSTRAINT memory_content_unique IF NOT EXISTS FOR (n:Memory) REQUIRE (n.institution, n.student_id, n.content_hash) IS UNIQUE;
CREATE CONSTRAINT usage_by_prompt_unique IF NOT EXISTS FOR (n:Usage) REQUIRE (n.institution, n.student_id, n.day, n.kind, n.prompt) IS UNIQUE;
CREATE CONSTRAINT budget_unique IF NOT EXISTS FOR (n:Budget) REQUIRE n.day IS UNIQUE;
CREATE CONSTRAINT question_unique IF NOT EXISTS FOR (n:Question) REQUIRE (n.institution, n.student_id, n.id) IS UNIQUE;
CREATE CONSTRAINT reflection_unique IF NOT EXISTS FOR (n:Reflection) REQUIRE (n.institution, n.student_id, n.id) IS UNIQUE;
CREATE CONSTRAINT student_budget_unique IF NOT EXISTS FOR (n:StudentBudget) REQUIRE (n.institution, n.student_id, n.day) IS UNIQUE;
CREATE CONSTRAINT reservation_unique IF NOT EXISTS FOR (n:Reservation) REQUIRE (n.institution, n.student_id, n.job_id, n.day) IS UNIQUE;
CREATE CONSTRAINT concern_unique IF NOT EXISTS FOR (n:Concern) REQUIRE (n.institution, n.student_id, n.id) IS UNIQUE;
CREATE CONSTRAINT compression_unique IF NOT EXISTS FOR (n:Compression) REQUIRE (n.institution, n.student_id, n.id) IS UNIQUE;
CREATE CONSTRAINT erasure_unique IF NOT EXISTS FOR (n:Erasure) REQUIRE (n.institution, n.student_id) IS UNIQUE;
CREATE CONSTRAINT manifest_page_unique IF NOT EXISTS FOR (n:ManifestPage) REQUIRE (n.institution, n.student_id, n.number) IS UNIQUE;
CREATE CONSTRAINT tampered_value_unique IF NOT EXISTS FOR (n:TamperedValue) REQUIRE (n.institution, n.student_id, n.label, n.node_id, n.field) IS UNIQUE;
CREATE CONSTRAINT institution_unique IF NOT EXISTS FOR (n:Institution) REQUIRE n.institution IS UNIQUE;
CREATE CONSTRAINT world_unique IF NOT EXISTS FOR (n:World) REQUIRE n.institution IS UNIQUE;
CREATE CONSTRAINT concept_unique IF NOT EXISTS FOR (n:Concept) REQUIRE (n.institution, n.id) IS UNIQUE;
CREATE CONSTRAINT uncertainty_unique IF NOT EXISTS FOR (n:Uncertainty) REQUIRE (n.institution, n.student_id, n.id) IS UNIQUE;

// What is looked up.
CREATE INDEX turn_by_seq IF NOT EXISTS FOR (n:Turn) ON (n.institution, n.student_id, n.seq);
CREATE INDEX turn_by_state IF NOT EXISTS FOR (n:Turn) ON (n.state, n.received_at);
CREATE INDEX fact_by_seq IF NOT EXISTS FOR (n:Fact) ON (n.institution, n.student_id, n.seq);
CREATE INDEX open_session_by_expiry IF NOT EXISTS FOR (n:OpenSession) ON (n.expires_at);
CREATE INDEX service_token_by_institution IF NOT EXISTS FOR (n:ServiceToken) ON (n.institution);
CREATE INDEX job_by_state IF NOT EXISTS FOR (n:Job) ON (n.state, n.run_after);
CREATE INDEX memory_by_written IF NOT EXISTS FOR (n:Memory) ON (n.institution, n.student_id, n.written);
CREATE INDEX memory_by_time IF NOT EXISTS FOR (n:Memory) ON (n.institution, n.student_id, n.timestamp);
CREATE INDEX job_by_student IF NOT EXISTS FOR (n:Job) ON (n.institution, n.student_id, n.state);
CREATE INDEX memory_by_considered IF NOT EXISTS FOR (n:Memory) ON (n.institution, n.student_id, n.considered);
CREATE INDEX job_by_time IF NOT EXISTS FOR (n:Job) ON (n.institution, n.created_at);
CREATE INDEX job_of_student_by_time IF NOT EXISTS FOR (n:Job) ON (n.institution, n.student_id, n.created_at);
CREATE INDEX student_budget_by_day IF NOT EXISTS FOR (n:StudentBudget) ON (n.day);
CREATE INDEX reservation_by_day IF NOT EXISTS FOR (n:Reservation) ON (n.day);
CREATE INDEX password_try_by_time IF NOT EXISTS FOR (n:PasswordTry) ON (n.at);
CREATE INDEX question_by_answer IF NOT EXISTS FOR (n:Question) ON (n.answered_at);
CREATE INDEX reflection_by_time IF NOT EXISTS FOR (n:Reflection) ON (n.created_at);
CREATE INDEX usage_by_day IF NOT EXISTS FOR (n:Usage) ON (n.day);
CREATE INDEX concern_by_time IF NOT EXISTS FOR (n:Concern) ON (n.institution, n.at);
CREATE INDEX manifest_note_by_student IF NOT EXISTS FOR (n:ManifestNote) ON (n.institution, n.student_id);
CREATE TEXT INDEX concept_by_words IF NOT EXISTS FOR (n:Concept) ON (n.words);
CREATE FULLTEXT INDEX concept_by_text IF NOT EXISTS FOR (n:Concept) ON EACH [n.name, n.aliases, n.description, n.institution];
CREATE VECTOR INDEX concept_by_meaning IF NOT EXISTS FOR (n:Concept) ON n.embedding WITH [n.institution] OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}};
