"""Sealed values that do not open: left out of reads, logged, counted and noted in the graph (spec 14).

One altered value costs one node: whoever reads many rows goes on with the others. Clear values of another type than
declared, which Neo4j cannot compute with, are taken away; counts of the student are made again from the other nodes.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from graphmem import metrics
from graphmem.errors import Tampered
from graphmem.model import Who
from graphmem.store.document import EdgeProperties, KnownPart
from graphmem.store.graph import Graph, Row, Transaction
from graphmem.store.nodes import NODE_KINDS, Field, kind_of, moment

R = TypeVar("R")
T = TypeVar("T")

MANY_ROWS = 50
"""Rows from which on they are opened off the event loop."""

log = logging.getLogger(__name__)


class Damage(list[Tampered]):
    """What did not open while something was read."""

    def opened(self, read: Callable[[], T]) -> T | None:
        """Return what `read` gives; None where a sealed value does not open, which is remembered.

        Examples
        --------
        >>> def broken() -> str:
        ...     raise Tampered.at("Fact", "fact-1", "text")
        >>> damage = Damage()
        >>> damage.opened(lambda: "text"), damage.opened(broken), len(damage)
        ('text', None, 1)
        """
        try:
            return read()
        except Tampered as error:
            self.append(error)
            return None

    def intact(self, rows: Iterable[R], read: Callable[[R], T]) -> list[T]:
        """Return what `read` gives of those rows whose sealed values open."""
        found = []
        for row in rows:
            try:
                found.append(read(row))
            except Tampered as error:
                self.append(error)
        return found


async def only_intact(graph: Graph, who: Who, rows: Iterable[R], read: Callable[[R], T]) -> list[T]:
    """Return what `read` gives of those rows whose sealed values open; the others are reported."""
    damage, rows = Damage(), list(rows)
    long = len(rows) >= MANY_ROWS
    found = await asyncio.to_thread(damage.intact, rows, read) if long else damage.intact(rows, read)
    await report(graph, who, damage)
    return found


async def report(graph: Graph, who: Who, damage: Sequence[Tampered]) -> None:
    """Log and count what did not open, and note it in the graph, each value once; `tampering/note`.

    A message that does not open waits for its reply no longer.
    """
    if not damage:
        return
    values = [{"label": each.label, "node_id": each.node_id, "field": each.field} for each in damage]
    for row in await graph.run("tampering/note", who, values=values, now=datetime.now(UTC)):
        metrics.tampered_values.inc()
        log.error("a sealed value does not open: field %s of %s %s", row["field"], row["label"], row["node_id"])


async def count_noticed(graph: Graph) -> tuple[int, int, datetime | None]:
    """Count the sealed values that did not open, of how many students, and when was the newest; `tampering/count`."""
    (row,) = await graph.run("tampering/count")
    return row["values"], row["students"], row["newest"] and moment(row["newest"])


async def forget_noticed(graph: Graph, who: Who) -> None:
    """Forget what of a student did not open; `tampering/forget`."""
    await graph.run("tampering/forget", who)


EDGE_FIELDS: Mapping[str, Field] = {
    name: Field(name, given.annotation)
    for name, given in (KnownPart.model_fields | EdgeProperties.model_fields).items()
    if name not in ("notes", "practice")
}
"""Clear properties of relationships, of whatever type."""
INDISPENSABLE = ("Student", "Companion")
"""Labels of nodes without which there is no student: their required properties are never null."""


async def mend(graph: Graph, who: Who) -> bool:
    """Take a student's clear values of another type than declared away, and note each; False where there is none.

    `backup/list_nodes`, `backup/list_edges` and `tampering/mend` in one transaction, then `tampering/note`.
    """
    damage: list[Tampered] = []

    async def work(tx: Transaction) -> bool | None:
        nodes = await tx.run("backup/list_nodes")
        edges = await tx.run("backup/list_edges", elements=[row["element"] for row in nodes])
        damage[:] = [Tampered.altered(*place) for row in (*nodes, *edges) for place in _mistyped(row)]
        changed = [{"element": row["element"], "properties": _instead(row, nodes)} for row in (*nodes, *edges)]
        await tx.run("tampering/mend", changed=[each for each in changed if each["properties"]])
        return True if damage else None

    mended = bool(await graph.transact(who, work))
    await report(graph, who, damage)
    return mended


def _mistyped(row: Row) -> list[tuple[str, str, str]]:
    """Return the label or type, id and property of each clear value of a node or relationship of another type."""
    properties, label = row["properties"], row.get("type") or kind_of(row["labels"])
    if label is None:
        return []
    clear = EDGE_FIELDS if "type" in row else NODE_KINDS[label].clear
    place = row["element"] if "type" in row else str(properties.get("id", properties.get("key", "")))
    wrong = [
        name
        for name, field in clear.items()
        if field.exported and not field.fits(properties.get(name), required=label in INDISPENSABLE)
    ]
    return [(label, "student" if label == "Student" else place, name) for name in wrong]


def _instead(row: Row, nodes: Sequence[Row]) -> dict[str, Any]:
    """Return replacements of values of another type than declared."""
    return {name: _mended_count(name, nodes) if label in INDISPENSABLE else None for label, _, name in _mistyped(row)}


def _mended_count(name: str, nodes: Sequence[Row]) -> Any:
    """Return what a count or setting of a student or companion is from now on, by what the other nodes hold."""

    def highest(label: str, name: str) -> int:
        values = [row["properties"].get(name) for row in nodes if label in row["labels"]]
        return max((value for value in values if type(value) is int), default=0)

    # Later than all that was written, so that everybody reads it again.
    version, sources = highest("Memory", "written") + 1, sum("Source" in row["labels"] for row in nodes)
    known = {
        "created_at": datetime.now(UTC),
        "version": version,
        "memory_version": version,
        "memories_removed": version,
        "turns": max(highest("Turn", "seq"), sources),
        "facts": highest("Fact", "seq"),
        "tolerance": 0.5,
        "expertise": [],
        **dict.fromkeys(("calls", "input_tokens", "output_tokens"), 0),
        "cost": 0.0,
    }
    return known.get(name)
