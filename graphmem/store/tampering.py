"""Sealed values that do not open: left out of what is read, logged, counted and noted in the graph (spec 14).

One altered value costs one node: whoever reads many rows goes on with the others.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from graphmem import metrics
from graphmem.errors import Tampered
from graphmem.model import Who
from graphmem.store.graph import Graph
from graphmem.store.rows import moment

R = TypeVar("R")
T = TypeVar("T")

MANY_ROWS = 50
"""Rows from which on they are opened off the event loop."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Noticed:
    """How many sealed values did not open, of how many students, and when the newest was noticed."""

    values: int
    students: int
    newest: datetime | None


class Damage(list[Tampered]):
    """What did not open while something was read."""

    def opened(self, read: Callable[[], T]) -> T | None:
        """What `read` gives; None where a sealed value does not open, which is remembered.

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
        """What `read` gives of those rows whose sealed values open."""
        found = []
        for row in rows:
            try:
                found.append(read(row))
            except Tampered as error:
                self.append(error)
        return found


async def only_intact(graph: Graph, who: Who, rows: Iterable[R], read: Callable[[R], T]) -> list[T]:
    """What `read` gives of those rows whose sealed values open; the others are reported."""
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


async def count_noticed(graph: Graph) -> Noticed:
    """Count what did not open, of all students; `tampering/count`."""
    (row,) = await graph.run("tampering/count")
    return Noticed(row["values"], row["students"], None if row["newest"] is None else moment(row["newest"]))


async def forget_noticed(graph: Graph, who: Who) -> None:
    """Forget what of a student did not open; `tampering/forget`."""
    await graph.run("tampering/forget", who)
