"""Compressions in the graph: the edges they are planned on, and their records (spec 13)."""

from datetime import datetime
from typing import Any

from graphmem.model import Compression, Edge, Modality, ModalityLoss, Session, Who
from graphmem.store.graph import Graph, Row
from graphmem.store.memories import opened_edge
from graphmem.store.nodes import COMPRESSION_NODE, clear_properties, opened
from graphmem.store.rows import readable
from graphmem.store.tampering import only_intact


async def list_all_edges(graph: Graph, session: Session, now: datetime) -> list[Edge] | None:
    """The edges between a student's memories; `compression/list_edges`. None when the session has ended."""
    rows = await graph.run("compression/list_edges", session, session_id=session.session_id, now=now)
    if not rows:
        return None
    return await only_intact(graph, session, rows[0]["edges"], lambda edge: opened_edge(*edge))


async def find_compressions(graph: Graph, who: Who, limit: int) -> list[Compression]:
    """Compressions, newest first; `compression/list`."""
    rows = await graph.run("compression/list", who, limit=limit)
    return await only_intact(graph, who, rows[0]["compressions"], _read_compression) if rows else []


def stored_compression(compression: Compression) -> dict[str, Any]:
    """The properties of a compression's node; the losses as one list for each measure, in the order of modalities."""
    losses = ("nodes", "entropy", "gravity", "edge_weight")
    return (
        clear_properties(COMPRESSION_NODE, compression)
        | {"loss_modalities": [loss.modality.value for loss in compression.loss]}
        | {f"loss_{name}": [getattr(loss, name) for loss in compression.loss] for name in losses}
    )


def _read_compression(row: Row) -> Compression:
    with readable("Compression", str(row.get("id"))):
        measures = (row["loss_nodes"], row["loss_entropy"], row["loss_gravity"], row["loss_edge_weight"])
        lost = zip(row["loss_modalities"], *measures, strict=True)
        loss = tuple(ModalityLoss(Modality(name), *numbers) for name, *numbers in lost)
        return opened(Compression, COMPRESSION_NODE, row, None, loss=loss)
