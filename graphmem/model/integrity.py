"""Whether what is kept of a student is what the service wrote (spec 14)."""

from dataclasses import dataclass


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
