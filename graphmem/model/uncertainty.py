"""Uncertainties, and responses to surprises, as frozen values (spec 5, 12)."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from graphmem.model.enums import (
    DetectionContext,
    EdgeType,
    Level,
    Resolution,
    Severity,
    Strategy,
    UncertaintyState,
    UncertaintyType,
)
from graphmem.model.fields import Count, Name, Placement, Sealed, Unstored

UNSETTLED = (UncertaintyState.OPEN, UncertaintyState.SURFACED)
"""States of a doubt that waits."""


@dataclass(frozen=True)
class RelationshipSide:
    """A relationship that is in doubt: its type, and the memory it leads to; a side names the one it starts from."""

    type: EdgeType
    """Type of the relationship."""
    to_id: str
    """Id of the memory it leads to."""


@dataclass(frozen=True)
class Uncertainty:
    """A doubt about one memory, or between two that cannot both be true; what is sealed is None while locked."""

    id: Name
    """Id within the student."""
    type: UncertaintyType
    """Why it is not sure."""
    severity: Severity
    """How much it matters."""
    detection_context: DetectionContext
    """When it was noticed."""
    temporal_signal: bool
    """Whether time may explain it."""
    a_id: Unstored[str]
    """Id of the memory in doubt."""
    b_id: Unstored[str | None]
    """Id of the other memory; null where one is in doubt alone."""
    created_at: datetime
    """When it was noticed (UTC)."""
    state: UncertaintyState = UncertaintyState.OPEN
    """Where it stands."""
    resolution: Annotated[Resolution | None, Placement("resolution_strategy")] = None
    """How it was settled; null while it is open."""
    surfaced_count: Count = 0
    """Times it was raised, 0 or more."""
    last_surfaced_at: datetime | None = None
    """When it was last raised (UTC); null: never."""
    resolved_at: datetime | None = None
    """When it was settled (UTC); null while it is open."""
    reasoning: Sealed[str | None] = field(default=None, repr=False)
    """Why they are in doubt."""
    surface_context: Sealed[str | None] = field(default=None, repr=False)
    """When to raise it."""
    detail: Annotated[str | None, Placement("resolution_detail", sealed=True)] = field(default=None, repr=False)
    """Details of the resolution."""
    a_edge: Unstored[RelationshipSide | None] = None
    """The relationship in doubt that starts from `a`; null where the memory itself is in doubt."""
    b_edge: Unstored[RelationshipSide | None] = None
    """The same of `b`."""

    @property
    def is_about_relationships(self) -> bool:
        """True if relationships are in doubt, and not the memories they start from."""
        return self.a_edge is not None

    @property
    def is_lone(self) -> bool:
        """True if one memory is in doubt by itself, and not beside another one that may still be formed."""
        return self.type is not UncertaintyType.CONTRADICTION


@dataclass(frozen=True)
class Woven:
    """A doubt as it is raised in passing: what is noted on both sides, and the question that would settle it."""

    doubt: Uncertainty
    a: str = field(repr=False)
    b: str | None = field(repr=False)
    question: str = field(repr=False)


@dataclass(frozen=True)
class ActionAdvice:
    """Advice on an action that rests on memories.

    confidence : 0..1, of the action, cut where a memory is in doubt
    warning, question : what is in doubt, and what to ask the student first; None where nothing is
    unreliable : ids of the memories in doubt
    """

    proceed: bool
    """Whether to go on; false: clarify first."""
    confidence: float
    """Confidence of the action, cut by 40 % where a memory is in doubt."""
    warning: str | None
    """What cannot be relied on, if anything."""
    question: str | None
    """What to ask the student first, if anything."""
    unreliable: tuple[str, ...]
    """The memories in doubt."""


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
