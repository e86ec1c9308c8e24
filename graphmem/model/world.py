"""The world: concepts that all students of an institution share (spec 11)."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class WorldEdgeType(StrEnum):
    """How one concept hangs together with another."""

    PREREQUISITE_OF = "PREREQUISITE_OF"
    PART_OF = "PART_OF"
    RELATED_TO = "RELATED_TO"


@dataclass(frozen=True)
class Concept:
    """A concept of the world.

    Aliases are other names of it, in any language; grade is the school year it is taught in, 1 to 20; misconceptions
    are wrong beliefs that are typical of it.
    """

    id: str
    name: str
    aliases: tuple[str, ...] = ()
    description: str | None = None
    domain: str | None = None
    grade: int | None = None
    misconceptions: tuple[str, ...] = ()


@dataclass(frozen=True)
class WorldEdge:
    """An edge between two concepts of the world."""

    id: str
    from_id: str
    to_id: str
    type: str


@dataclass(frozen=True)
class World:
    """Concepts and the edges between them, by their ids."""

    concepts: dict[str, Concept]
    edges: dict[str, WorldEdge]


@dataclass(frozen=True)
class Known:
    """A concept in a student's overlay; attitude -1 to 1, familiarity 0 to 1; notes are sealed, None while locked."""

    concept: Concept
    attitude: float
    familiarity: float
    since: datetime
    notes: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Imported:
    """Numbers of concepts and edges that the world has after an import."""

    concepts: int
    edges: int
