"""What each write of a student's data touches, so that the integrity hash can be kept up (spec 14).

A statement that writes is listed here with a function from its parameters, and its rows where they are needed, to the
nodes, properties and relationships that it may change; or in `OUTSIDE`, where it changes nothing the hash covers.
Properties are named one by one, so that what was altered by hand in others is not taken over.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphmem.store.nodes import NODE_KINDS, STUDENT_NODE

GivenParams = Mapping[str, Any]
FoundRows = Sequence[Mapping[str, Any]]

INSIDE = frozenset(label for label, kind in NODE_KINDS.items() if kind.hashed)
"""Labels of the nodes that the hash covers."""
STUDENT_PROPERTIES = frozenset(each.name for each in STUDENT_NODE.fields if each.hashed)
"""Properties of a student that the hash covers: the others count what was done."""
RELOCKED = ("salt", "argon2_ops", "argon2_memory", "wrapped_key", "recovery_copy")
"""Properties of a student that another password changes."""
PROPERTIES_OUTSIDE = frozenset().union(*(kind.unhashed for kind in NODE_KINDS.values() if kind is not STUDENT_NODE))
"""Properties of other nodes that it does not cover: made of what it covers, or of the talk under way."""
EDGES_OUTSIDE = frozenset({"OPENED", "SAID", "EXPERIENCES"})
"""Relationships of a running session, which it does not cover."""


@dataclass
class Touched:
    """What a write may have changed.

    nodes : label and id, with the properties that were set; None stands for all of them
    made : nodes that may be new
    gone : nodes that may have been deleted
    edges : label and id of a node, and the type of its relationships
    oldest_fact : facts of a smaller number may have been deleted
    """

    nodes: dict[tuple[str, str], set[str] | None] = field(default_factory=dict)
    made: set[tuple[str, str]] = field(default_factory=set)
    gone: set[tuple[str, str]] = field(default_factory=set)
    edges: set[tuple[str, str, str]] = field(default_factory=set)
    oldest_fact: int = 0

    def __bool__(self) -> bool:
        return bool(self.nodes or self.gone or self.edges or self.oldest_fact)

    def places(self) -> int:
        """How many nodes and relationships are named."""
        return len(self.nodes) + len(self.gone) + len(self.edges)

    def set(self, label: str, ids: Iterable[str], *names: str) -> "Touched":
        """Properties of nodes that are there were set."""
        for node_id in ids:
            known = self.nodes.setdefault((label, node_id), set())
            if known is not None:
                known.update(names)
        return self

    def make(self, label: str, ids: Iterable[str], *names: str) -> "Touched":
        """Nodes were created; of those that were there, some properties were set."""
        ids = list(ids)
        self.made.update((label, node_id) for node_id in ids)
        return self.set(label, ids, *names)

    def replace(self, label: str, ids: Iterable[str]) -> "Touched":
        """Nodes were created, or all properties of them set anew."""
        ids = list(ids)
        self.made.update((label, node_id) for node_id in ids)
        self.nodes.update(dict.fromkeys(((label, node_id) for node_id in ids), None))
        return self

    def delete(self, label: str, ids: Iterable[str]) -> "Touched":
        """Nodes were deleted, with their relationships."""
        self.gone.update((label, node_id) for node_id in ids)
        return self

    def link(self, label: str, ids: Iterable[str], *types: str) -> "Touched":
        """Relationships of some types of nodes were created, changed or deleted."""
        self.edges.update((label, node_id, kind) for node_id in ids for kind in types)
        return self

    def add(self, other: "Touched") -> None:
        """Take in what another write touched."""
        for place, names in other.nodes.items():
            known = self.nodes.setdefault(place, set())
            self.nodes[place] = None if known is None or names is None else known | names
        self.made |= other.made
        self.gone |= other.gone
        self.edges |= other.edges
        self.oldest_fact = max(self.oldest_fact, other.oldest_fact)

    def told(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "nodes": [[*place, None if names is None else sorted(names)] for place, names in self.nodes.items()],
            "made": sorted(self.made),
            "gone": sorted(self.gone),
            "edges": sorted(self.edges),
            "oldest_fact": self.oldest_fact,
        }


def read_touched(told: Mapping[str, Any]) -> Touched:
    """What `Touched.told` gave.

    Examples
    --------
    >>> one = Touched().make("Fact", ["fact-1"], "text").link("Fact", ["fact-1"], "FORMED_FROM")
    >>> read_touched(one.told()) == one
    True
    """
    return Touched(
        {(label, node_id): None if names is None else set(names) for label, node_id, names in told["nodes"]},
        {(label, node_id) for label, node_id in told["made"]},
        {(label, node_id) for label, node_id in told["gone"]},
        {(label, node_id, kind) for label, node_id, kind in told["edges"]},
        told["oldest_fact"],
    )


def source_id(kind: str, ref: str) -> str:
    """The id of a source among the elements: what is unique of it.

    Examples
    --------
    >>> source_id("chat", "turn-1")
    'chat:turn-1'
    """
    return f"{kind}:{ref}"


def _sources(params: GivenParams) -> list[str]:
    return [source_id(kind, params["source_ref"]) for kind in params["source_kinds"]]


def _ids(rows: Iterable[Mapping[str, Any]], name: str = "id") -> list[str]:
    return [row[name] for row in rows]


def _listed(rows: FoundRows, name: str) -> list[Any]:
    return [each for row in rows for each in row[name]]


def _facts_added(params: GivenParams, rows: FoundRows) -> Touched:
    ids = _ids(params["facts"])
    return (
        Touched().replace("Fact", ids).link("Fact", ids, "FORMED_FROM", "LEARNED").delete("Fact", _listed(rows, "gone"))
    )


def _turn_completed(params: GivenParams, _: FoundRows) -> Touched:
    facts, concerns = _ids(params["facts"]), params["concerns"]
    touched = Touched(oldest_fact=params["oldest_fact"])
    touched.make("Source", [source_id("chat", params["turn_id"])])
    touched.replace("Fact", facts).link("Fact", facts, "FORMED_FROM", "LEARNED")
    touched.set("Memory", _ids(params["boosts"]), "gravity", "last_accessed", "access_count")
    touched.set("Question", params["asked"], "state", "asked_at")
    for raised in concerns:
        _concern(touched, raised["concern"]["id"], raised["entry"]["id"])
    noticed = [new["properties"]["id"] for new in params["noticed_doubts"]]
    touched.make("Uncertainty", noticed).link("Uncertainty", noticed, "CONCERNS")
    for doubt in params["raised_doubts"]:
        touched.set("Uncertainty", [doubt["id"]], *doubt["properties"]).set("Companion", ["companion"], "tolerance")
    return touched


def _concern(touched: Touched, concern_id: str, entry_id: str) -> Touched:
    touched.make("Concern", [concern_id], "text").link("Concern", [concern_id], "SHOWS", "FORMED_FROM", "KEPT_AS")
    touched.make("LedgerEntry", [entry_id], "is_active", "importance")
    return touched.link("LedgerEntry", [entry_id], "KEEPS", "FORMED_FROM", "KEPT_AS")


def _memories_created(params: GivenParams, _: FoundRows) -> Touched:
    touched, ids = Touched(), [new["properties"]["id"] for new in params["memories"]]
    touched.make("Memory", ids).link("Memory", ids, "FORMED_FROM")
    for new in params["memories"]:
        kinds = {new["source"]["kind"], new["remark"]}
        touched.make("Source", [source_id(kind, new["source"]["ref"]) for kind in kinds])
    return touched


def _statements_restored(params: GivenParams, _: FoundRows) -> Touched:
    ids = [each["properties"]["id"] for each in params["statements"]]
    return Touched().make("Memory", ids).link("Memory", ids, "FORMED_FROM")


def _reinforced(params: GivenParams, _: FoundRows) -> Touched:
    touched = Touched()
    for again in params["memories"]:
        touched.set("Memory", [again["id"]], *again["properties"]).link("Memory", [again["id"]], "FORMED_FROM")
    return touched


def _entry_settled(params: GivenParams, rows: FoundRows) -> Touched:
    # What is neither a promise nor a debt stays as it is.
    settled = [params["id"] for row in rows if row["entry"]["category"] in ("promise", "debt")]
    return Touched().set("LedgerEntry", settled, "is_active", "settled_at", "note")


def _updated(params: GivenParams, _: FoundRows) -> Touched:
    touched = Touched()
    for update in params["memories"]:
        touched.set("Memory", [update["id"]], *update["properties"])
    return touched


def _edges(params: GivenParams, _: FoundRows) -> Touched:
    touched = Touched()
    for edge in params["edges"]:
        touched.link("Memory", [edge["from_id"]], edge["type"])
        if edge["type"] == "ABSTRACTS":
            touched.link("Memory", [edge["to_id"]], edge["type"])
    return touched


def _rated(_: GivenParams, rows: FoundRows) -> Touched:
    touched = Touched()
    for row in rows:
        touched.link("Memory", [row["from_id"]], row["type"])
    return touched


def _mentions(params: GivenParams, _: FoundRows) -> Touched:
    touched = Touched()
    for mention in params["mentions"]:
        touched.make("Entity", [mention["key"]]).link("Memory", [mention["memory_id"]], mention["type"])
    return touched


def _promoted(params: GivenParams, _: FoundRows) -> Touched:
    ids = [entry["properties"]["id"] for entry in params["entries"]]
    touched = Touched().make("LedgerEntry", ids, "is_active", "created_at", "settled_at", "ended")
    touched.link("LedgerEntry", ids, "KEEPS", "FORMED_FROM", "CONCERNS")
    return touched.set("Memory", _ids(params["entries"], "memory_id"), "in_ledger")


def _doubts(params: GivenParams, _: FoundRows) -> Touched:
    ids = [new["properties"]["id"] for new in params["uncertainties"]]
    return Touched().make("Uncertainty", ids).link("Uncertainty", ids, "CONCERNS")


def _settled(params: GivenParams, _: FoundRows) -> Touched:
    touched = Touched()
    for standing in params["uncertainties"]:
        touched.set("Uncertainty", [standing["id"]], *standing["properties"])
    return touched


def _absorbed(params: GivenParams, _: FoundRows) -> Touched:
    kinds = ("FORMED_FROM", "INVOLVES", "ABOUT", "LOCATED_AT", "RAISES", "CONCERNS")
    return Touched().link("Memory", _ids(params["absorbed"], "into"), *kinds)


def _raised(params: GivenParams, _: FoundRows) -> Touched:
    touched = Touched()
    for each in params["raised"]:
        ids = [each["properties"]["id"]]
        touched.make(each["label"], ids).link(each["label"], ids, "RAISES")
    return touched


def _episode_started(params: GivenParams, rows: FoundRows) -> Touched:
    return Touched().link("Memory", [params["episode_id"], *_listed(rows, "members")], "ABSTRACTS")


def _observed(params: GivenParams, _: FoundRows) -> Touched:
    touched = Touched()
    for observed in params["observations"]:
        kinds = {observed["kind"], "chat"}
        ids = _ids(observed["concerns"])
        touched.make("Source", [source_id(kind, observed["ref"]) for kind in kinds])
        touched.make("Concern", ids).link("Concern", ids, "SHOWS", "FORMED_FROM")
    return touched


def _practised(params: GivenParams, _: FoundRows) -> Touched:
    touched = Touched()
    for each in params["practised"]:
        touched.link("Source", [source_id(each["kind"], each["ref"])], "PRACTISED")
        touched.link("Concept", [each["concept_id"]], "KNOWS")
    return touched


def _considered(params: GivenParams, _: FoundRows) -> Touched:
    touched = Touched()
    for verdict in params["verdicts"]:
        touched.set("Memory", [verdict["id"]], "considered", "considered_at", *verdict["properties"])
    return touched


def _forgotten(_: GivenParams, rows: FoundRows) -> Touched:
    touched = Touched().set("Concern", _listed(rows, "concerns"), "text", "note")
    touched.set("Source", _listed(rows, "formed"), "formed_at")
    for label, node_id in _listed(rows, "gone"):
        if label in INSIDE:
            touched.delete(label, [node_id])
    return touched


def _contents_deleted(_: GivenParams, rows: FoundRows) -> Touched:
    touched, sources = Touched().set("Concern", _listed(rows, "concerns"), "text", "note"), _ids(rows, "source")
    return touched.set("Source", sources, "formed_at").link("Source", sources, "FORMED_FROM")


def _decayed(_: GivenParams, rows: FoundRows) -> Touched:
    touched = Touched().delete("Memory", _listed(rows, "gone"))
    return touched.set("Uncertainty", _listed(rows, "doubts"), "state", "resolution_strategy", "resolved_at")


def _corrected(params: GivenParams, _: FoundRows) -> Touched:
    touched = Touched().set("Student", ["student"], "corrected_signals", "corrected_levels", "verdicts")
    return touched.set("Memory", [params["memory_id"]], "verdict", "verdict_note")


def _concern_corrected(params: GivenParams, rows: FoundRows) -> Touched:
    touched = Touched().set("Concern", [params["id"]], "corrected_at", "note")
    return touched.set("LedgerEntry", _listed(rows, "entries"), "is_active")


def _enrolled(_: GivenParams, __: FoundRows) -> Touched:
    touched = Touched().make("Student", ["student"]).make("Companion", ["companion"])
    return touched.link("Companion", ["companion"], "ACCOMPANIES")


def _resealed_nodes(params: GivenParams, _: FoundRows) -> Touched:
    touched = Touched()
    for node in params["nodes"]:
        if node["label"] in INSIDE:
            touched.set(node["label"], [node["id"]], *(node["properties"].keys() - PROPERTIES_OUTSIDE))
    return touched


def _entry_added(params: GivenParams, _: FoundRows) -> Touched:
    ids = [params["entry"]["id"]]
    return Touched().replace("LedgerEntry", ids).link("LedgerEntry", ids, "KEEPS", "FORMED_FROM")


def _entry_deleted(params: GivenParams, rows: FoundRows) -> Touched:
    return Touched().delete("LedgerEntry", [params["id"]]).set("Memory", _listed(rows, "freed"), "in_ledger")


TOUCHES: Mapping[str, Callable[[GivenParams, FoundRows], Touched]] = {
    "changes/add_correction": _corrected,
    "changes/add_facts": _facts_added,
    "changes/absorb_memories": _absorbed,
    "changes/close_entries": lambda _, rows: (
        Touched()
        .set("LedgerEntry", _listed(rows, "entries"), "is_active", "settled_at", "ended")
        .set("Fact", _listed(rows, "facts"), "invalid_at")
    ),
    "changes/create_memories": _memories_created,
    "changes/create_summaries": lambda params, _: Touched().make(
        "Memory", [new["properties"]["id"] for new in params["memories"]]
    ),
    "changes/delete_memories": lambda params, _: Touched().delete("Memory", params["ids"]),
    "changes/form_source": lambda params, _: (
        Touched().set("Source", _sources(params), "formed_at", "snr").link("Memory", params["ids"], "ABSTRACTS")
    ),
    "changes/merge_edges": _edges,
    "changes/merge_mentions": _mentions,
    "changes/merge_topics": lambda params, _: Touched().link("Memory", _ids(params["topics"], "memory_id"), "ABOUT"),
    "changes/merge_uncertainties": _doubts,
    "changes/pass_on_topics": lambda _, rows: (
        Touched().link("Fact", _listed(rows, "facts"), "ABOUT").link("Uncertainty", _listed(rows, "doubts"), "ABOUT")
    ),
    "changes/promote_entries": _promoted,
    "changes/raise_questions": _raised,
    "changes/record_compression": lambda params, _: (
        Touched()
        .make("Compression", [params["compression"]["id"]])
        .link("Compression", [params["compression"]["id"]], "COMPRESSED")
    ),
    "changes/reinforce_memories": _reinforced,
    "changes/rate_edges": _rated,
    "changes/remove_edges": _edges,
    "changes/restore_statements": _statements_restored,
    "changes/set_tolerance": lambda _, __: Touched().set("Companion", ["companion"], "tolerance"),
    "changes/settle_edges": _edges,
    "changes/settle_uncertainties": _settled,
    "changes/start_episode": _episode_started,
    "changes/update_memories": _updated,
    "companion/update": lambda _, __: Touched().set("Companion", ["companion"], "persona", "expertise"),
    "concern/correct": _concern_corrected,
    "concern/keep": lambda params, _: _concern(
        Touched(), params["raised"]["concern"]["id"], params["raised"]["entry"]["id"]
    ),
    "drift/delete_questions": lambda _, rows: Touched().delete("Question", _listed(rows, "ids")),
    "fact/delete": lambda params, _: Touched().delete("Fact", [params["id"]]),
    "ledger/add": _entry_added,
    "ledger/delete": _entry_deleted,
    "ledger/settle": _entry_settled,
    "memory/decay": _decayed,
    "memory/forget": _forgotten,
    "memory/rewrite": _updated,
    "overlay/discover": lambda params, _: Touched().link("Discovered", params["edge_ids"], "DISCOVERED"),
    "overlay/discover_practised": lambda _, rows: Touched().link("Discovered", _ids(rows, "edge_id"), "DISCOVERED"),
    "overlay/practise": _practised,
    "overlay/reveal": lambda params, _: Touched().link("Concept", params["ids"], "KNOWS"),
    "overlay/set_attitude": lambda params, _: Touched().link("Concept", [params["id"]], "KNOWS"),
    "overlay/set_retention": lambda params, _: Touched().link("Concept", _ids(params["retentions"]), "KNOWS"),
    "question/answer": lambda params, _: Touched().set("Question", [params["question_id"]], "state", "answered_at"),
    "question/delete_old": lambda params, _: (
        Touched().delete("Question", params["ids"]).delete("Reflection", params["ids"])
    ),
    "rotation/finish": lambda params, _: Touched().set(
        "Student", ["student"], *(params["lock"].keys() & STUDENT_PROPERTIES)
    ),
    "rotation/save_nodes": _resealed_nodes,
    "rotation/save_notes": lambda params, _: Touched().link("Concept", _ids(params["notes"], "concept"), "KNOWS"),
    "source/delete_contents": _contents_deleted,
    "source/observe": _observed,
    "student/create": _enrolled,
    "student/recover": lambda _, __: Touched().set("Student", ["student"], *RELOCKED, "recoveries"),
    "student/relock": lambda _, __: Touched().set("Student", ["student"], *RELOCKED),
    "student/set_public_key": lambda _, __: Touched().set("Student", ["student"], "public_key"),
    "thought/consolidate": _considered,
    "turn/complete": _turn_completed,
}
"""What a statement touches, from its parameters and rows."""
NEEDS_ROWS = frozenset(
    {
        *(
            "changes/rate_edges",
            "changes/add_facts",
            "changes/close_entries",
            "changes/pass_on_topics",
            "changes/start_episode",
            "concern/correct",
        ),
        *(
            "drift/delete_questions",
            "ledger/delete",
            "ledger/settle",
            "memory/decay",
            "memory/forget",
            "overlay/discover_practised",
            "source/delete_contents",
        ),
    }
)
"""Those of them whose rows tell what they touch."""
OUTSIDE = frozenset(
    {
        *(
            "budget/release",
            "budget/reserve",
            "changes/begin",
            "erasure/begin",
            "erasure/delete_some",
            "erasure/finish",
        ),
        # A manifest of the student is made when all is there.
        *("import/begin", "import/create_nodes", "import/create_edges", "import/finish"),
        "backup/list_nodes",
        *("integrity/begin", "integrity/delete_pages", "integrity/note", "integrity/save"),
        *(
            "job/claim",
            "job/postpone",
            "job/release",
            "job/retry",
            "memory/set_vectors",
            "notice/finish",
            "password/count_try",
        ),
        *(
            "password/settle_try",
            "notice/finish",
            "rotation/begin",
            "rotation/lock",
            "session/renew",
            "session/claim_closing",
            "session/close",
            "session/expire",
            "session/finish",
            "session/keep_closing",
            "session/open",
            "tampering/forget",
            "tampering/mend",
        ),
        *("integrity/set_public_key_seal", "integrity/set_seals", "tampering/note", "turn/receive"),
        *("uncertainty/begin_cycle", "usage/add"),
    }
)
"""Statements that write, of one student, and touch nothing the hash covers."""
