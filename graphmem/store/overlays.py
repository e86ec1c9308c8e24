"""What students know of the world (spec 11)."""

from collections.abc import Sequence
from datetime import datetime

from graphmem.model import Concept, Known, Who
from graphmem.store.graph import Graph
from graphmem.store.rows import from_ms
from graphmem.store.world import concept_of


async def list_unknown_concepts(graph: Graph, institution: str, ids: Sequence[str]) -> list[str]:
    """Those of some ids that are no concept of the world; `overlay/list_unknown`."""
    return [row["id"] for row in await graph.run("overlay/list_unknown", institution=institution, ids=list(ids))]


async def reveal_concepts(graph: Graph, who: Who, ids: Sequence[str], now: datetime) -> bool:
    """Put concepts into an overlay; `overlay/reveal`. False without the student."""
    return bool(await graph.run("overlay/reveal", who, ids=list(ids), now=now))


async def discover_edges(graph: Graph, who: Who, edge_ids: Sequence[str], now: datetime) -> set[str]:
    """Note edges as found, those between known concepts; the ids noted; `overlay/discover`."""
    return {r["edge_id"] for r in await graph.run("overlay/discover", who, edge_ids=list(edge_ids), now=now)}


async def list_known(graph: Graph, who: Who, after: str, limit: int) -> tuple[int, list[Known]]:
    """Number of known concepts, and a page of them by id; `overlay/list_page`."""
    rows = await graph.run("overlay/list_page", who, after=after, limit=limit)
    if not rows:
        return 0, []
    found = [
        Known(concept_of(c), attitude, familiarity, from_ms(at)) for c, attitude, familiarity, at in rows[0]["known"]
    ]
    return rows[0]["total"], found


async def list_discovered(graph: Graph, who: Who) -> list[str]:
    """Ids of the edges that a student found; `overlay/list_discovered`."""
    return [row["edge_id"] for row in await graph.run("overlay/list_discovered", who)]


async def list_frontier(graph: Graph, who: Who, limit: int) -> list[Concept]:
    """Unknown concepts whose prerequisites are known; `overlay/frontier`."""
    return [concept_of(row["concept"]) for row in await graph.run("overlay/frontier", who, limit=limit)]
