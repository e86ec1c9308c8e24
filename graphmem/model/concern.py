"""Danger that a message tells of, as frozen values (spec 20)."""

from dataclasses import dataclass, field
from datetime import date, datetime

from graphmem.model.enums import AboutWhom, ConcernKind, Level
from graphmem.model.fields import UNSTORED, Unit, documented

SERIOUS = 2
"""Urgency from which a person should look."""
ACUTE = 3
"""Urgency of what endangers a life now; nothing that was learned makes it unheard."""


@dataclass(frozen=True)
class Danger:
    """Danger as the detector or a mind reads it from a message.

    urgency : 1 worrying, 2 serious, 3 acute
    about : whom it befalls; of a threat to others, who might do it
    probability : float in [0, 1], of any danger at all
    sure : whether a second opinion, a plain sign or the urgency speaks for it as well; else it is heeded, and brought
        up again only where the talk touches it
    sign : whether a plain sign says so in so many words: no false alarm of before speaks against it, and where it is
        acute no model does
    """

    kind: ConcernKind
    urgency: int
    about: AboutWhom = AboutWhom.SELF
    probability: float = 1.0
    sure: bool = True
    sign: bool = False


@dataclass(frozen=True)
class Concern:
    """Concern that a message has raised, as it is told to the app."""

    id: str = field(metadata=documented("Id of the concern, for correctConcern.", Unit.NAME))
    kind: ConcernKind = field(metadata=documented("Kind of danger."))
    urgency: int = field(metadata=documented("1 worrying, 2 serious, 3 acute.", Unit.URGENCY))
    about: AboutWhom = field(metadata=documented("Whom it concerns: `self` (the student) or `other`."))
    at: datetime = field(metadata=documented("When it was said (UTC).", Unit.UTC))
    help: str = field(
        default="",
        metadata=documented("Help text that graphmem's reply holds; show it beside a reply of yours.", stored=UNSTORED),
    )
    corrected_at: datetime | None = field(
        default=None,
        metadata=documented("When it was taken back as a false alarm (UTC); null while it stands.", Unit.UTC),
    )


@dataclass(frozen=True)
class RaisedConcern:
    """Concern as it is written: with the probability, and the level of surprise the message would have had."""

    concern: Concern
    probability: float
    level: Level | None = None


@dataclass(frozen=True)
class FalseAlarm:
    """Message that was no danger after all, and what it had been taken for."""

    text: str = field(repr=False)
    kind: ConcernKind
    urgency: int


@dataclass(frozen=True)
class WellbeingWeek:
    """Counts and means of a week of a student, of what is clear; means are None where there is nothing to count.

    week : its Monday
    threats : concerns that nobody has taken back
    """

    week: date
    turns: int
    mean_valence: float | None
    emotional_memories: int
    threats: int
    secrets: int
    mean_surprise: float | None


@dataclass(frozen=True)
class Wellbeing:
    """Wellbeing of a student as an auditor sees it, without any key.

    weeks : oldest first
    concerns : of these weeks, newest first, those taken back too
    open_concerns : ever, that nobody has taken back
    """

    weeks: tuple[WellbeingWeek, ...]
    concerns: tuple[Concern, ...]
    open_concerns: int
