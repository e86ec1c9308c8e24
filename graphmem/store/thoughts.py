"""Thoughts in the graph: memories of a session that have not been consolidated yet (spec 6)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.model import Who
from graphmem.store.graph import Graph
from graphmem.store.rows import from_ms


@dataclass(frozen=True)
class UnconsolidatedMemory:
    """Features of a memory for consolidation: numbers only.

    activity : messages a minute when it was said
    features : of its importance, as of then, in the order of `graphmem.maths.importance.Features`
    salience, importance : as of then
    """

    id: str
    at: datetime
    snr: int
    surprise: float
    activity: float
    features: tuple[float, ...]
    strength: float
    salience: float
    importance: float


@dataclass(frozen=True)
class WaitingThoughts:
    """The oldest thoughts that nobody has considered, and the moment of the last of all that wait."""

    thoughts: tuple[UnconsolidatedMemory, ...]
    ended: datetime


@dataclass(frozen=True)
class ConsolidationVerdict:
    """Decision of consolidation on a thought."""

    id: str
    consolidated: bool
    importance: float
    salience: float
    strength: float


async def list_waiting(graph: Graph, who: Who, limit: int, until: datetime | None) -> WaitingThoughts:
    """Thoughts nobody has considered yet, said until a moment if one is given, oldest first; `thought/list`."""
    (row,) = await graph.run("thought/list", who, limit=limit, until=until)
    found = tuple(
        UnconsolidatedMemory(memory_id, from_ms(at), snr, surprise, activity, tuple(features), *rest)
        for memory_id, at, snr, surprise, activity, features, *rest in row["thoughts"]
    )
    return WaitingThoughts(found, from_ms(row["ended"] or 0))


async def save_verdicts(graph: Graph, who: Who, verdicts: Sequence[ConsolidationVerdict], now: datetime) -> int:
    """Write what was decided, once; `thought/consolidate`. How many thoughts had not been considered before."""
    rows = await graph.run("thought/consolidate", who, verdicts=[_properties(v) for v in verdicts], now=now)
    return int(rows[0]["considered"]) if rows else 0


def _properties(verdict: ConsolidationVerdict) -> dict[str, object]:
    properties: dict[str, object] = {
        "consolidated": verdict.consolidated,
        "importance": verdict.importance,
        "salience": verdict.salience,
        "strength": verdict.strength,
    }
    if verdict.consolidated:
        properties["gravity"] = 1.0
    return {"id": verdict.id, "properties": properties}
