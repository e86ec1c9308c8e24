"""Compression: what a memory graph was before and after, and what it lost (spec 13)."""

from dataclasses import dataclass, field
from datetime import datetime

from graphmem.model.enums import CompressionTrigger, Modality
from graphmem.model.fields import UNSTORED, Unit, documented


@dataclass(frozen=True)
class ModalityLoss:
    """What there is less of one modality than before; below 0: more."""

    modality: Modality = field(metadata=documented("The modality."))
    nodes: int = field(metadata=documented("Memories less; below 0: more."))
    entropy: float = field(
        metadata=documented("Shannon entropy of gravity over its memories less, in bits; below 0: more.", Unit.BITS)
    )
    gravity: float = field(metadata=documented("Sum of gravity less; below 0: more."))
    edge_weight: float = field(metadata=documented("Sum of the weights of edges at its memories less; below 0: more."))


@dataclass(frozen=True)
class Compression:
    """A compression that was done, or would be."""

    trigger: CompressionTrigger = field(metadata=documented("Why it was done."))
    nodes_before: int = field(metadata=documented("Memories before, 0 or more.", Unit.COUNT))
    nodes_after: int = field(metadata=documented("Memories afterwards, 0 or more.", Unit.COUNT))
    edges_before: int = field(metadata=documented("Edges between memories before, 0 or more.", Unit.COUNT))
    edges_after: int = field(metadata=documented("Edges between memories afterwards, 0 or more.", Unit.COUNT))
    pruned: int = field(metadata=documented("Memories that were deleted, 0 or more.", Unit.COUNT))
    merged: int = field(metadata=documented("Memories that became part of a summary, 0 or more.", Unit.COUNT))
    cycles: int = field(metadata=documented("Cycles that were run, 0 to 3.", Unit.COUNT))
    loss: tuple[ModalityLoss, ...] = field(metadata=documented("What was lost, by modality.", stored=UNSTORED))
    id: str | None = field(
        default=None, metadata=documented("Id within the student; null where nothing was written.", Unit.NAME)
    )
    at: datetime | None = field(
        default=None, metadata=documented("When it was done (UTC); null where nothing was written.", Unit.UTC)
    )
    integrity_hash: str | None = field(
        default=None,
        metadata=documented("Keyed hash over ids, contents and edges of what is left; null where nothing was written."),
    )
