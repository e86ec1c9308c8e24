"""The world: concepts that all students of an institution share (spec 11)."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from graphmem.model.enums import Word

MAIN_WORLD = "main"
"""Name of the world that concepts belong to where none is given."""


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
class ConceptHit:
    """A concept that a search found.

    holds : its name, an alias or its description holds the words, whole or in part
    lexical : score by full text; 0: not found so
    similarity : of its meaning, (1 + cosine) / 2; 0: not near
    """

    concept: Concept
    holds: bool = False
    lexical: float = 0.0
    similarity: float = 0.0


@dataclass(frozen=True)
class WorldEdge:
    """An edge between two concepts of the world."""

    id: str
    from_id: str
    to_id: str
    type: str


@dataclass(frozen=True)
class World:
    """Concepts and the edges between them, by their ids; an institution has one, which may be made of several.

    names : by concept id, the name of the world it was imported with
    """

    concepts: dict[str, Concept]
    edges: dict[str, WorldEdge]
    names: dict[str, str] = field(default_factory=dict)


class PracticeOutcome(Word):
    """How practising a concept went: not, with trouble, well, without effort."""

    AGAIN = "again", "It was not recalled."
    HARD = "hard", "With trouble."
    GOOD = "good", "Well."
    EASY = "easy", "Without effort."


def outcome_of(familiarity: float) -> PracticeOutcome:
    """The outcome of practice that a familiarity which was set speaks for.

    Examples
    --------
    >>> [outcome_of(value).value for value in (0.0, 0.25, 0.6, 1.0)]
    ['again', 'hard', 'good', 'easy']
    """
    outcomes = list(PracticeOutcome)
    return outcomes[min(int(familiarity * len(outcomes)), len(outcomes) - 1)]


@dataclass(frozen=True)
class Practised:
    """A concept that was practised in what is observed, and how it went."""

    concept_id: str
    outcome: PracticeOutcome = PracticeOutcome.GOOD


@dataclass(frozen=True)
class Practice:
    """One practice of a concept.

    set_to : 0 to 1, where somebody set the familiarity instead
    """

    at: datetime
    outcome: PracticeOutcome
    set_to: float | None = None


@dataclass(frozen=True)
class Retained:
    """How a student holds a concept, as of the last practice.

    mastery : 0 to 1, of what was practised
    stability : days > 0 after which nine of ten such concepts are still recalled
    difficulty : 1 to 10
    due_at : when it should be practised again
    """

    mastery: float
    stability: float
    difficulty: float
    practised_at: datetime
    due_at: datetime


@dataclass(frozen=True)
class ConceptProgress:
    """How a student is getting on with a known concept.

    familiarity : 0 to 1, now
    trend : -1 to 1, how much more familiar than four weeks ago
    due_at : when it should be practised again; None: it never was practised
    fades_at : when the chance of recall falls below 0.7; None likewise
    evidence : ids of memories of its practice
    """

    concept: Concept
    familiarity: float
    trend: float
    last_practised: datetime | None = None
    due_at: datetime | None = None
    fades_at: datetime | None = None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Known:
    """A concept in a student's overlay; attitude -1 to 1, familiarity 0 to 1; notes are sealed, None while locked.

    retention : how it is held; None where it was neither practised nor set
    """

    concept: Concept
    attitude: float
    familiarity: float
    since: datetime
    notes: str | None = field(default=None, repr=False)
    retention: Retained | None = None


@dataclass(frozen=True)
class Imported:
    """Numbers of concepts and edges that the world has after an import."""

    concepts: int
    edges: int
