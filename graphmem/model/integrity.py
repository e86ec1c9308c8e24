"""Whether what is kept of a student is what the service wrote (spec 14)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Integrity:
    """What was altered by hand in the database.

    Ids are those of nodes, or of the ends of a relationship around its type; `manifest` is the record itself.

    hash : over all nodes and relationships as they are; empty where there is no manifest
    fields : of what was altered, as id and name of the property
    """

    intact: bool
    hash: str
    altered: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
