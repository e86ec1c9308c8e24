"""Nodes, properties and relationships that a write touched, by which the integrity hash is kept up (spec 14).

A statement returns what it touched in the column `touched`: maps with the `label` and `id` of a node, the properties
that were `set`, the types of its `links`, and whether it was `made`, `replaced` or is `gone`. Properties are named one
by one, so that what was altered by hand in others is not taken over.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphmem.store.nodes import NODE_KINDS, STUDENT_NODE

INSIDE = frozenset(label for label, kind in NODE_KINDS.items() if kind.hashed)
"""Labels of the nodes that the hash covers."""
STUDENT_PROPERTIES = frozenset(each.name for each in STUDENT_NODE.fields if each.hashed)
"""Properties of a student that the hash covers: the others count what was done."""
PROPERTIES_OUTSIDE = frozenset().union(*(kind.unhashed for kind in NODE_KINDS.values() if kind is not STUDENT_NODE))
"""Properties of other nodes that it does not cover: made of what it covers, or of the talk under way."""
EDGES_OUTSIDE = frozenset({"OPENED", "SAID", "EXPERIENCES", "LIVED"})
"""Relationships of a running session, and those that lead to episodes, which it does not cover."""


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

    def add_returned(self, rows: Iterable[dict[str, Any]]) -> None:
        """Take in, and out of the rows, what a statement returned as touched."""
        for row in rows:
            for each in row.pop("touched", ()):
                label, node_id = (each["label"], each["id"]) if each is not None else ("", None)
                if node_id is None:
                    continue
                self.link(label, [node_id], *each.get("links", ()))
                if label not in INSIDE:
                    continue
                if each.get("gone"):
                    self.delete(label, [node_id])
                elif each.get("replaced"):
                    self.replace(label, [node_id])
                elif each.get("made"):
                    self.make(label, [node_id], *each.get("set", ()))
                elif "set" in each:
                    own = STUDENT_PROPERTIES if label == "Student" else None
                    self.set(label, [node_id], *(n for n in each["set"] if own is None or n in own))

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
