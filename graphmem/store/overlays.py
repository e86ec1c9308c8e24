"""What students know of the world (spec 11)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from graphmem.model import Concept, Known, Session, Who
from graphmem.store.graph import Graph, Transaction
from graphmem.store.rows import NodeSealer, from_ms
from graphmem.store.world import concept_of


async def find_versions(graph: Graph, who: Who) -> tuple[int, int] | None:
    """Versions of the world and of a student's overlay; None without the student; `overlay/get_versions`."""
    rows = await graph.run("overlay/get_versions", who)
    return (rows[0]["world"], rows[0]["overlay"]) if rows else None


async def list_known_ids(graph: Graph, who: Who) -> list[str]:
    """Ids of the concepts that a student knows; `overlay/list_ids`."""
    rows = await graph.run("overlay/list_ids", who)
    return list(rows[0]["ids"]) if rows else []


async def list_unknown_concepts(graph: Graph, institution: str, ids: Sequence[str]) -> list[str]:
    """Those of some ids that are no concept of the world; `overlay/list_unknown`."""
    return [row["id"] for row in await graph.run("overlay/list_unknown", institution=institution, ids=list(ids))]


async def reveal_together(
    graph: Graph, who: Who, ids: Sequence[str], edge_ids: Sequence[str], now: datetime
) -> list[str] | None:
    """Put concepts and edges into an overlay, all or none; `overlay/reveal`, `overlay/discover`.

    Returns
    -------
    the edges that do not lead between known concepts, for whose sake nothing was written; None without the student
    """
    missing: list[str] = []

    async def work(tx: Transaction) -> bool | None:
        missing.clear()
        if not await tx.run("overlay/reveal", ids=list(ids), now=now):
            return False
        rows = await tx.run("overlay/discover", edge_ids=list(edge_ids), now=now)
        found = {row["edge_id"] for row in rows}
        missing.extend(each for each in edge_ids if each not in found)
        return None if missing else True

    there = await graph.transact(who, work)
    return None if there is False else missing


async def save_attitude(
    graph: Graph,
    session: Session,
    concept_id: str,
    attitude: float | None,
    familiarity: float | None,
    notes: str | None,
) -> Known | None:
    """Set what a student thinks and knows of a known concept; `overlay/set_attitude`. None where it is not known."""
    sealed = None if notes is None else NodeSealer(session.keys, session, f"knows-{concept_id}").seal("notes", notes)
    rows = await graph.run(
        "overlay/set_attitude", session, id=concept_id, attitude=attitude, familiarity=familiarity, notes=sealed
    )
    return _known(session, session, rows[0]["known"]) if rows else None


async def list_known(
    graph: Graph, who: Who, after: str, limit: int, session: Session | None = None
) -> tuple[int, list[Known]]:
    """Number of known concepts, and a page of them by id, with their notes in a session; `overlay/list_page`."""
    rows = await graph.run("overlay/list_page", who, after=after, limit=limit)
    return (rows[0]["total"], [_known(who, session, each) for each in rows[0]["known"]]) if rows else (0, [])


def _known(who: Who, session: Session | None, row: Sequence[Any]) -> Known:
    concept, attitude, familiarity, since, sealed = concept_of(row[0]), *row[1:]
    opens = session is not None and sealed is not None
    place = NodeSealer(session.keys, who, f"knows-{concept.id}") if session is not None else None
    notes = place.text("notes", sealed) if opens and place is not None else None
    return Known(concept, attitude, familiarity, from_ms(since), notes)


async def list_discovered(graph: Graph, who: Who) -> list[str]:
    """Ids of the edges that a student found; `overlay/list_discovered`."""
    return [row["edge_id"] for row in await graph.run("overlay/list_discovered", who)]


async def list_frontier(graph: Graph, who: Who, limit: int) -> list[Concept]:
    """Unknown concepts whose prerequisites are known; `overlay/frontier`."""
    return [concept_of(row["concept"]) for row in await graph.run("overlay/frontier", who, limit=limit)]
