// A role and an account that read what is clear of the graph, and write nothing. For editions of Neo4j with roles.
// Run in the database `system`, with the parameter `password`; it may run again.
CREATE ROLE graphmem_analyst IF NOT EXISTS;
GRANT ACCESS ON DATABASE neo4j TO graphmem_analyst;
GRANT MATCH {*} ON GRAPH neo4j TO graphmem_analyst;
DENY WRITE ON GRAPH neo4j TO graphmem_analyst;
// What is sealed, and keys.
DENY READ {salt, wrapped_key, sealed_private_key, public_key, display_name} ON GRAPH neo4j NODES Student TO graphmem_analyst;
DENY READ {persona, prediction, prediction_embedding} ON GRAPH neo4j NODES Companion TO graphmem_analyst;
DENY READ {content, details, embedding, surprise_response, verdict_note} ON GRAPH neo4j NODES Memory TO graphmem_analyst;
DENY READ {text, tags} ON GRAPH neo4j NODES Fact TO graphmem_analyst;
DENY READ {text, reply, given_reply, task, opener, outcome} ON GRAPH neo4j NODES Turn TO graphmem_analyst;
DENY READ {content, summary, triggers, trigger_entities, note, embedding} ON GRAPH neo4j NODES LedgerEntry TO graphmem_analyst;
DENY READ {name} ON GRAPH neo4j NODES Entity TO graphmem_analyst;
DENY READ {text, note} ON GRAPH neo4j NODES Concern TO graphmem_analyst;
DENY READ {text} ON GRAPH neo4j NODES Question, Reflection TO graphmem_analyst;
DENY READ {reasoning, surface_context, resolution_detail, undo} ON GRAPH neo4j NODES Uncertainty TO graphmem_analyst;
DENY READ {payload} ON GRAPH neo4j NODES Job TO graphmem_analyst;
DENY READ {notes} ON GRAPH neo4j RELATIONSHIPS KNOWS TO graphmem_analyst;
// Keys of running sessions, and who could not sign on.
DENY TRAVERSE ON GRAPH neo4j NODES OpenSession, PasswordTry TO graphmem_analyst;
CREATE USER analyst IF NOT EXISTS SET PASSWORD $password CHANGE REQUIRED;
GRANT ROLE graphmem_analyst TO analyst;
