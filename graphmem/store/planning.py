"""Statements that Neo4j plans once: ahead, before a student waits for them, and never anew (spec 16).

A first plan takes Neo4j 0.1 to 2 s a statement, and a first turn needs some twenty of them.
"""

PLANNED = (
    "student/settle_sealing",
    "companion/get_default",
    "student/create",
    "student/find",
    "password/count_try",
    "password/settle_try",
    "integrity/get_root",
    "integrity/list_pages",
    "session/open",
    "turn/get_before",
    "turn/list",
    "fact/list",
    "memory/get_state",
    "memory/list_written",
    "uncertainty/list",
    "ledger/list",
    "overlay/get_versions",
    "world/list_names",
    "memory/list_linked",
    "turn/complete",
    "job/list_unformed",
    "integrity/list_notes",
    "integrity/list_nodes",
    "integrity/list_edges",
    "integrity/save",
    "job/claim",
    "job/any_running",
    "question/list",
    "changes/begin",
    "changes/form_source",
    "changes/create_memories",
    "changes/merge_mentions",
    "changes/merge_edges",
    "changes/start_episode",
    "changes/update_memories",
    "memory/find",
    "integrity/note",
)
"""Statements of a first conversation, from enrolment to a context and the jobs, in the order of their first use.

Each starts at an index, whatever the database holds: statistics teach it nothing, and planned anew with few open
sessions some would read all of them.
"""
NOTED = ("turn/complete",)
"""Statements that are sent with a note of what they touch, which their caller knows: a student waits for them."""
