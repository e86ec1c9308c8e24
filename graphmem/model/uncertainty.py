"""Uncertainties: doubts about one memory or between two, and what was done about them (spec 12)."""

from dataclasses import dataclass, field
from datetime import datetime

from graphmem.model.enums import DetectionContext, Resolution, Severity, UncertaintyState, UncertaintyType

UNSETTLED = (UncertaintyState.OPEN, UncertaintyState.SURFACED)
"""States of a doubt that waits."""


@dataclass(frozen=True)
class Uncertainty:
    """A doubt about one memory, or between two that cannot both be true.

    a_id, b_id : ids of the memories; b_id is None where one is in doubt alone
    temporal_signal : time may explain it
    reasoning, surface_context, detail : why, when to raise it, how it was settled; sealed, None while locked
    """

    id: str
    type: UncertaintyType
    severity: Severity
    detection_context: DetectionContext
    temporal_signal: bool
    a_id: str
    b_id: str | None
    created_at: datetime
    state: UncertaintyState = UncertaintyState.OPEN
    resolution: Resolution | None = None
    surfaced_count: int = 0
    last_surfaced_at: datetime | None = None
    resolved_at: datetime | None = None
    reasoning: str | None = field(default=None, repr=False)
    surface_context: str | None = field(default=None, repr=False)
    detail: str | None = field(default=None, repr=False)


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
    confidence: float
    warning: str | None
    question: str | None
    unreliable: tuple[str, ...]
