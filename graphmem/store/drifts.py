"""Drift cycles in the graph: whose is due, and questions that nothing raises any more (spec 16)."""

from datetime import datetime

from graphmem.model import Who
from graphmem.store.graph import Graph


async def claim_due(graph: Graph, before: datetime, now: datetime, limit: int) -> list[tuple[Who, str | None]]:
    """Take students whose last cycle was before some moment, longest ago first; `drift/claim`.

    Each with the sealed token of an open session, if there is one. Another process that asks finds others.
    """
    rows = await graph.run("drift/claim", before=before, now=now, limit=limit)
    return [
        (Who(row["institution"], row["id"]), None if row["token"] is None else bytes(row["token"]).decode())
        for row in rows
    ]


async def delete_idle_questions(graph: Graph, who: Who) -> int:
    """Delete waiting questions that no memory raises which still holds; how many; `drift/delete_questions`."""
    rows = await graph.run("drift/delete_questions", who)
    return int(rows[0]["deleted"]) if rows else 0
