"""Compressions in the graph: the edges they are planned on, and their records (spec 13)."""

from datetime import datetime
from typing import Any

from graphmem.model import Compression, CompressionTrigger, Edge, EdgeType, Modality, ModalityLoss, Session, Who
from graphmem.store.graph import Graph, Row
from graphmem.store.rows import from_ms, moment


async def list_all_edges(graph: Graph, session: Session, now: datetime) -> list[Edge] | None:
    """The edges between a student's memories; `compression/list_edges`. None when the session has ended."""
    rows = await graph.run("compression/list_edges", session, session_id=session.session_id, now=now)
    if not rows:
        return None
    return [Edge(EdgeType(type_), w, a, b, label, from_ms(at)) for type_, w, a, b, label, at in rows[0]["edges"]]


async def find_compressions(graph: Graph, who: Who, limit: int) -> list[Compression]:
    """Compressions, newest first; `compression/list`."""
    rows = await graph.run("compression/list", who, limit=limit)
    return [_opened(row) for row in rows[0]["compressions"]] if rows else []


def stored_compression(compression: Compression) -> dict[str, Any]:
    """The properties of a compression's node; the losses as one list for each measure, in the order of modalities."""
    numbers = ("nodes_before", "nodes_after", "edges_before", "edges_after", "pruned", "merged", "cycles")
    return {name: getattr(compression, name) for name in (*numbers, "id", "at", "integrity_hash")} | {
        "trigger": compression.trigger.value,
        "loss_modalities": [loss.modality.value for loss in compression.loss],
        "loss_nodes": [loss.nodes for loss in compression.loss],
        "loss_entropy": [loss.entropy for loss in compression.loss],
        "loss_gravity": [loss.gravity for loss in compression.loss],
        "loss_edge_weight": [loss.edge_weight for loss in compression.loss],
    }


def _opened(row: Row) -> Compression:
    measures = (row["loss_nodes"], row["loss_entropy"], row["loss_gravity"], row["loss_edge_weight"])
    return Compression(
        trigger=CompressionTrigger(row["trigger"]),
        nodes_before=row["nodes_before"],
        nodes_after=row["nodes_after"],
        edges_before=row["edges_before"],
        edges_after=row["edges_after"],
        pruned=row["pruned"],
        merged=row["merged"],
        cycles=row["cycles"],
        loss=tuple(
            ModalityLoss(Modality(name), *lost) for name, *lost in zip(row["loss_modalities"], *measures, strict=True)
        ),
        id=row["id"],
        at=moment(row["at"]),
        integrity_hash=row["integrity_hash"],
    )
