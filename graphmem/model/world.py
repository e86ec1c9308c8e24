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
    """A concept of the institution's world."""

    id: str
    """Id within the institution, 1 to 128 characters."""
    name: str
    """Its name, 1 to 200 characters; no two concepts have the same."""
    aliases: tuple[str, ...] = ()
    """Other names, in any language, at most 50 of 1 to 200 characters."""
    description: str | None = None
    """What it is, at most 2,000 characters."""
    domain: str | None = None
    """Subject it belongs to, at most 200 characters."""
    grade: int | None = None
    """School year it is taught in, 1 to 20."""
    misconceptions: tuple[str, ...] = ()
    """Wrong beliefs that are typical of it, at most 10 of 1 to 500 characters."""


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
    """Id within the institution, 1 to 128 characters."""
    from_id: str
    """Concept it leads from."""
    to_id: str
    """Concept it leads to."""
    type: str
    """PREREQUISITE_OF, PART_OF or RELATED_TO."""


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
    """Id of a concept of the world."""
    outcome: PracticeOutcome = PracticeOutcome.GOOD
    """How it went; a lesson that was finished went well."""


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
    """How a student is getting on with a known concept."""

    concept: Concept
    """The concept."""
    familiarity: float
    """How familiar it is now, 0 to 1."""
    trend: float
    """How much more familiar than four weeks ago, -1 to 1."""
    last_practised: datetime | None = None
    """When it was last practised, or its familiarity set (UTC); null: never."""
    due_at: datetime | None = None
    """When it should be practised again, as one of ten such concepts is forgotten by then (UTC); null: it was never
    practised."""
    fades_at: datetime | None = None
    """When the chance of recall falls below 0.7 unless it is practised (UTC); null: never practised."""
    evidence: tuple[str, ...] = ()
    """Ids of memories of its practice, newest first, at most 20."""


@dataclass(frozen=True)
class Known:
    """A concept that a student knows.

    retention : how it is held; None where it was neither practised nor set
    """

    concept: Concept
    """The concept."""
    attitude: float
    """How the student feels about it, -1 to 1."""
    familiarity: float
    """How well the student knows it, 0 to 1."""
    since: datetime
    """When it was revealed (UTC)."""
    notes: str | None = field(default=None, repr=False)
    """Notes; null: none, or locked."""
    retention: Retained | None = None


@dataclass(frozen=True)
class Imported:
    """Numbers of concepts and edges of an import."""

    concepts: int
    """Concepts, 0 or more."""
    edges: int
    """Edges, 0 or more."""
