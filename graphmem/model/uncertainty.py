"""Uncertainties: doubts about one memory or between two, and what was done about them (spec 12)."""

from dataclasses import dataclass, field
from datetime import datetime

from graphmem.model.enums import (
    DetectionContext,
    EdgeType,
    PairClass,
    Resolution,
    Severity,
    UncertaintyState,
    UncertaintyType,
)
from graphmem.model.fields import SEALED, UNSTORED, Placement, Unit, documented

UNSETTLED = (UncertaintyState.OPEN, UncertaintyState.SURFACED)
"""States of a doubt that waits."""


@dataclass(frozen=True)
class RelationshipSide:
    """A relationship that is in doubt: its type, and the memory it leads to; a side names the one it starts from."""

    type: EdgeType = field(metadata=documented("Type of the relationship."))
    to_id: str = field(metadata=documented("Id of the memory it leads to."))


@dataclass(frozen=True)
class Uncertainty:
    """A doubt about one memory, or between two that cannot both be true; what is sealed is None while locked."""

    id: str = field(metadata=documented("Id within the student.", Unit.NAME))
    type: UncertaintyType = field(metadata=documented("Why it is not sure."))
    severity: Severity = field(metadata=documented("How much it matters."))
    detection_context: DetectionContext = field(metadata=documented("When it was noticed."))
    temporal_signal: bool = field(metadata=documented("Whether time may explain it."))
    a_id: str = field(metadata=documented("Id of the memory in doubt.", stored=UNSTORED))
    b_id: str | None = field(
        metadata=documented("Id of the other memory; null where one is in doubt alone.", stored=UNSTORED)
    )
    created_at: datetime = field(metadata=documented("When it was noticed (UTC).", Unit.UTC))
    state: UncertaintyState = field(default=UncertaintyState.OPEN, metadata=documented("Where it stands."))
    resolution: Resolution | None = field(
        default=None,
        metadata=documented("How it was settled; null while it is open.", stored=Placement("resolution_strategy")),
    )
    surfaced_count: int = field(default=0, metadata=documented("Times it was raised, 0 or more.", Unit.COUNT))
    last_surfaced_at: datetime | None = field(
        default=None, metadata=documented("When it was last raised (UTC); null: never.", Unit.UTC)
    )
    resolved_at: datetime | None = field(
        default=None, metadata=documented("When it was settled (UTC); null while it is open.", Unit.UTC)
    )
    reasoning: str | None = field(
        default=None, repr=False, metadata=documented("Why they are in doubt.", stored=SEALED)
    )
    surface_context: str | None = field(
        default=None, repr=False, metadata=documented("When to raise it.", stored=SEALED)
    )
    detail: str | None = field(
        default=None,
        repr=False,
        metadata=documented("Details of the resolution.", stored=Placement("resolution_detail", sealed=True)),
    )
    a_edge: RelationshipSide | None = field(
        default=None,
        metadata=documented(
            "The relationship in doubt that starts from `a`; null where the memory itself is in doubt.", stored=UNSTORED
        ),
    )
    b_edge: RelationshipSide | None = field(default=None, metadata=documented("The same of `b`.", stored=UNSTORED))

    @property
    def is_about_relationships(self) -> bool:
        """True if relationships are in doubt, and not the memories they start from."""
        return self.a_edge is not None

    @property
    def is_lone(self) -> bool:
        """True if one memory is in doubt by itself, and not beside another one that may still be formed."""
        return self.type is not UncertaintyType.CONTRADICTION


@dataclass(frozen=True)
class StatementPair:
    """Two statements of one person that could replace each other, the older one first."""

    old: str = field(repr=False)
    new: str = field(repr=False)


@dataclass(frozen=True)
class PairVerdict:
    """A mind's verdict on how two statements stand to each other.

    confidence : 0..1, chance that the class is right
    ended : 0..1, chance that the older one holds no longer
    opposed : 0..1, chance that they cannot both be so at one time, whether life has changed or not
    reasoning, surface_context : why, and what the two are about
    """

    kind: PairClass
    confidence: float
    ended: float
    opposed: float
    reasoning: str = field(default="", repr=False)
    surface_context: str = field(default="", repr=False)


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

    proceed: bool = field(metadata=documented("Whether to go on; false: clarify first."))
    confidence: float = field(metadata=documented("Confidence of the action, cut by 40 % where a memory is in doubt."))
    warning: str | None = field(metadata=documented("What cannot be relied on, if anything."))
    question: str | None = field(metadata=documented("What to ask the student first, if anything."))
    unreliable: tuple[str, ...] = field(metadata=documented("The memories in doubt."))
