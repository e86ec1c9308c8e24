"""Compression: what a memory graph was before and after, and what it lost (spec 13)."""

from dataclasses import dataclass
from datetime import datetime

from graphmem.model.enums import CompressionTrigger, Modality


@dataclass(frozen=True)
class ModalityLoss:
    """What there is less of one modality than before; below 0 there is more.

    nodes : number of memories
    entropy : Shannon entropy of gravity over the memories, in bits
    gravity : sum of gravity
    edge_weight : sum of weights of the edges at its memories
    """

    modality: Modality
    nodes: int
    entropy: float
    gravity: float
    edge_weight: float


@dataclass(frozen=True)
class Compression:
    """A compression that was done, or would be: `id`, `at` and `integrity_hash` are None of a preview.

    pruned, merged : memories that were deleted, and that became part of a summary
    cycles : 0 to 3
    integrity_hash : keyed, over ids, contents and edges of what is left
    """

    trigger: CompressionTrigger
    nodes_before: int
    nodes_after: int
    edges_before: int
    edges_after: int
    pruned: int
    merged: int
    cycles: int
    loss: tuple[ModalityLoss, ...]
    id: str | None = None
    at: datetime | None = None
    integrity_hash: str | None = None
