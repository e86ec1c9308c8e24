"""Surprising episodes and what a mind makes of them, as frozen values without behaviour (spec 5)."""

from dataclasses import dataclass, field

from graphmem.model.conversation import Lesson
from graphmem.model.enums import Level, MemoryKind, Modality, Strategy


@dataclass(frozen=True)
class Belief:
    """A prior memory of the student, a trait or concept, that is near a surprising episode.

    confidence : 0..1
    quote : the words it comes from; None where the content is those words
    """

    id: str
    content: str = field(repr=False)
    kind: MemoryKind
    confidence: float = 0.7
    quote: str | None = field(default=None, repr=False)

    @property
    def words(self) -> str:
        """The words it comes from, which rules compare with what is said now."""
        return self.quote or self.content


@dataclass(frozen=True)
class Surprising:
    """A surprising message and the beliefs near it, as a mind reads it.

    signal : 0..1
    match : 0..1, how well the prediction fitted; None without one
    actual : what the student said; the only thing belief updates may rest on
    beliefs : that it may end, nearest first
    doc : the annotations of `actual` (`graphmem.text.doc.Doc`), where they were made
    """

    level: Level
    signal: float
    match: float | None
    predicted: str | None = field(repr=False)
    actual: str = field(repr=False)
    beliefs: tuple[Belief, ...] = ()
    doc: object = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class BeliefUpdate:
    """A prior assumption that no longer holds, and what takes its place.

    prior_id : the belief that is closed; None where the assumption is no belief shown, but was said in the episode
    new : the new understanding, resting on the characters from start to end of `Surprising.actual`
    kind : trait or concept
    delta : -1..1, how far confidence in the prior assumption changes
    confidence : 0..1, in the new understanding
    evolution : whether the prior was true and has changed (`TEMPORAL_EVOLUTION`), rather than being put right or more
        exactly (`REFINES`)
    """

    prior_id: str | None
    prior: str = field(repr=False)
    new: str = field(repr=False)
    start: int
    end: int
    kind: MemoryKind
    modality: Modality
    delta: float
    confidence: float
    evolution: bool


@dataclass(frozen=True)
class Reflection:
    """Reflection of the companion on a surprise.

    procedure : how to go about such a situation next time, worth a procedural memory; None where there is nothing
        to learn
    """

    text: str = field(repr=False)
    procedure: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Analysis:
    """Analysis of a surprising episode by a mind.

    explanation : which prediction failed and why, in plain words
    questions : of a paradigm shift, up to 3 ready to be put to the student; none that was asked just before
    reflection : of a paradigm shift, what the companion takes from it
    """

    explanation: str = field(repr=False)
    updates: tuple[BeliefUpdate, ...] = ()
    strategy: Strategy = Strategy.NONE
    facts: tuple[Lesson, ...] = field(default=(), repr=False)
    questions: tuple[str, ...] = field(default=(), repr=False)
    reflection: Reflection | None = field(default=None, repr=False)


@dataclass(frozen=True)
class SurpriseAction:
    """Something that was done about a surprise."""

    kind: str
    """`start_episode`, `extract_facts`, `update_beliefs`, `flashbulb`, `connect_prior`, `queue_questions` or
    `self_reflect`."""
    fact_count: int | None = None
    """Facts that were learned, 0 to 30."""
    episode_ids: tuple[str, ...] = ()
    """Ids of the episodes concerned."""
    questions: tuple[str, ...] = ()
    """Questions to the student."""
    reflection: str | None = None
    """Lesson for the companion itself."""


@dataclass(frozen=True)
class Revision:
    """Revision of a belief by a surprise: the prior and the new one, with the ids of their memories."""

    prior_id: str | None
    """Id of the memory that no longer holds, if there is one."""
    new_id: str
    """Id of the memory that holds now."""
    prior_assumption: str = field(repr=False)
    """What was believed."""
    new_understanding: str = field(repr=False)
    """What is so now."""
    confidence_delta: float
    """Confidence of the new belief minus that of the old one, -1 to 1."""


@dataclass(frozen=True)
class SurpriseResponse:
    """All that a surprise led to; kept sealed on its episode (spec 5)."""

    level: Level
    """Level of the surprise when it was analysed."""
    signal: float
    """Surprise signal, 0 to 1."""
    explanation: str = field(repr=False)
    """Which prediction failed, and why."""
    strategy: Strategy
    """What the surprise suggests to do."""
    revisions: tuple[Revision, ...] = ()
    """Beliefs that changed."""
    actions: tuple[SurpriseAction, ...] = ()
    """What was done."""
    offline: bool = False
    """Whether the offline mind analysed it."""
