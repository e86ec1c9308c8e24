"""Whether what is kept of a student is what the service wrote (spec 14)."""

from dataclasses import dataclass, field

from graphmem.model.fields import documented


@dataclass(frozen=True)
class Integrity:
    """What was altered by hand in the database.

    Ids are those of nodes, or of the ends of a relationship around its type; `manifest` is the record itself.
    """

    intact: bool = field(metadata=documented("Whether everything is as the service wrote it."))
    hash: str = field(metadata=documented("Keyed hash over all of the student as it is; empty without a record."))
    altered: tuple[str, ...] = field(default=(), metadata=documented("What is there and differs."))
    removed: tuple[str, ...] = field(default=(), metadata=documented("What is no longer there."))
    added: tuple[str, ...] = field(default=(), metadata=documented("What the service never wrote."))
    fields: tuple[str, ...] = field(default=(), metadata=documented("Which properties differ, as id.property."))
