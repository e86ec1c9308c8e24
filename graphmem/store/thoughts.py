"""Thoughts in the graph: memories of a session that have not been consolidated yet (spec 6)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graphmem.maths.features import RATE_WINDOW, SEGMENT_GAP
from graphmem.model import Who
from graphmem.store.graph import Graph
from graphmem.store.memories import read_values
from graphmem.store.rows import readable
from graphmem.store.tampering import only_intact

THOUGHT_COLUMNS = (*("timestamp", "snr", "surprise", "activity", "features", "strength", "salience", "importance"),)
"""Properties of a memory as `thought/list` returns them after its id."""


@dataclass(frozen=True)
class UnconsolidatedMemory:
    """Features of a memory for consolidation: numbers only.

    activity : messages a minute up to the one it is of
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
    """The oldest thoughts that nobody has considered.

    said : seconds at which the student spoke around them, in order
    """

    thoughts: tuple[UnconsolidatedMemory, ...]
    said: tuple[float, ...]


@dataclass(frozen=True)
class ConsolidationVerdict:
    """Decision of consolidation on a thought.

    activity : messages a minute of the time it is judged by
    """

    id: str
    consolidated: bool
    activity: float
    importance: float
    salience: float
    strength: float


async def list_waiting(graph: Graph, who: Who, limit: int, until: datetime | None) -> WaitingThoughts:
    """Thoughts nobody has considered yet, said until a moment if one is given, oldest first; `thought/list`."""
    (row,) = await graph.run(
        "thought/list", who, limit=limit, until=until, seconds_before=RATE_WINDOW, seconds_after=SEGMENT_GAP
    )
    found = tuple(await only_intact(graph, who, row["thoughts"], lambda values: _unconsolidated(*values)))
    # The turns of a session that nobody closed are gone before its memories are considered.
    said = {at / 1000 for at in row["said"]} | {thought.at.timestamp() for thought in found}
    return WaitingThoughts(found, tuple(sorted(said)))


async def save_verdicts(graph: Graph, who: Who, verdicts: Sequence[ConsolidationVerdict], now: datetime) -> int:
    """Write what was decided, once; `thought/consolidate`. How many thoughts had not been considered before."""
    rows = await graph.run("thought/consolidate", who, verdicts=[_properties(v) for v in verdicts], now=now)
    return int(rows[0]["considered"]) if rows else 0


async def list_kept(graph: Graph, who: Who, turn_ids: Sequence[str]) -> dict[str, bool]:
    """Of turns whose memories were all judged, by id: whether one of them was consolidated; `thought/list_kept`."""
    rows = await graph.run("thought/list_kept", who, turn_ids=list(turn_ids))
    return {row["turn_id"]: row["consolidated"] > 0 for row in rows if not row["waiting"]}


def _unconsolidated(memory_id: str, *values: Any) -> UnconsolidatedMemory:
    with readable("Memory", memory_id):
        return UnconsolidatedMemory(memory_id, *read_values(THOUGHT_COLUMNS, values))


def _properties(verdict: ConsolidationVerdict) -> dict[str, object]:
    properties: dict[str, object] = {
        "consolidated": verdict.consolidated,
        "activity": verdict.activity,
        "importance": verdict.importance,
        "salience": verdict.salience,
        "strength": verdict.strength,
    }
    if verdict.consolidated:
        properties["gravity"] = 1.0
    return {"id": verdict.id, "properties": properties}
