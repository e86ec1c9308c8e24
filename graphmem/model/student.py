"""A student's integrity, and the compression of a student's graph, as frozen values (spec 13, 14)."""

from dataclasses import dataclass
from datetime import datetime

from graphmem.model.enums import CompressionTrigger, Modality
from graphmem.model.fields import Count, Name, Unstored


@dataclass(frozen=True)
class Integrity:
    """What was altered by hand in the database.

    Ids are those of nodes, or of the ends of a relationship around its type; `manifest` is the record itself.
    """

    intact: bool
    """Whether everything is as the service wrote it."""
    hash: str
    """Keyed hash over all of the student as it is; empty without a record."""
    altered: tuple[str, ...] = ()
    """What is there and differs."""
    removed: tuple[str, ...] = ()
    """What is no longer there."""
    added: tuple[str, ...] = ()
    """What the service never wrote."""
    fields: tuple[str, ...] = ()
    """Which properties differ, as id.property."""


@dataclass(frozen=True)
class ModalityLoss:
    """What there is less of one modality than before; below 0: more."""

    modality: Modality
    """The modality."""
    nodes: int
    """Memories less; below 0: more."""
    entropy: float
    """Shannon entropy of gravity over its memories less, in bits; below 0: more."""
    gravity: float
    """Sum of gravity less; below 0: more."""
    edge_weight: float
    """Sum of the weights of edges at its memories less; below 0: more."""


@dataclass(frozen=True)
class Compression:
    """A compression that was done, or would be."""

    trigger: CompressionTrigger
    """Why it was done."""
    nodes_before: Count
    """Memories before, 0 or more."""
    nodes_after: Count
    """Memories afterwards, 0 or more."""
    edges_before: Count
    """Edges between memories before, 0 or more."""
    edges_after: Count
    """Edges between memories afterwards, 0 or more."""
    pruned: Count
    """Memories that were deleted, 0 or more."""
    merged: Count
    """Memories that became part of a summary, 0 or more."""
    cycles: Count
    """Cycles that were run, 0 to 3."""
    loss: Unstored[tuple[ModalityLoss, ...]]
    """What was lost, by modality."""
    id: Name | None = None
    """Id within the student; null where nothing was written."""
    at: datetime | None = None
    """When it was done (UTC); null where nothing was written."""
    integrity_hash: str | None = None
    """Keyed hash over ids, contents and edges of what is left; null where nothing was written."""
