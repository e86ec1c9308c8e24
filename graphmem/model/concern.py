"""Danger that a message tells of, as frozen values (spec 20)."""

from dataclasses import dataclass, field
from datetime import date, datetime

from graphmem.model.enums import AboutWhom, ConcernKind, Level
from graphmem.model.fields import Name, Unstored, Urgency

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

    @property
    def stands(self) -> bool:
        """True if no mind can deny it: a plain sign of acute danger."""
        return self.sign and self.urgency >= ACUTE


@dataclass(frozen=True)
class Concern:
    """Danger that a message tells of; nothing of what was said."""

    id: Name
    """Id of the concern, for correctConcern."""
    kind: ConcernKind
    """Kind of danger."""
    urgency: Urgency
    """1 worrying, 2 serious, 3 acute."""
    about: AboutWhom
    """Whom it concerns: `self` (the student) or `other`."""
    at: datetime
    """When it was said (UTC)."""
    help: Unstored[str] = ""
    """Help text that graphmem's reply holds; show it beside a reply of yours."""
    corrected_at: datetime | None = None
    """When it was taken back as a false alarm (UTC); null while it stands."""

    @property
    def person_should_look(self) -> bool:
        """Whether a person should look now: urgency 2 or 3."""
        return self.urgency >= SERIOUS


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
    """Counts and means of a week of a student, of what is clear; means are None where there is nothing to count."""

    week: date
    """Monday of the week (UTC)."""
    turns: int
    """Turns, 0 or more."""
    mean_valence: float | None
    """Mean valence of what was said, -1 to 1; null: nothing."""
    emotional_memories: int
    """Emotional memories, 0 or more."""
    threats: int
    """Concerns raised and not taken back, 0 or more."""
    secrets: int
    """Secrets told, 0 or more."""
    mean_surprise: float | None
    """Mean surprise, 0 to 1; null where nothing was said."""


@dataclass(frozen=True)
class Wellbeing:
    """Wellbeing of a student as an auditor sees it, without any key."""

    weeks: tuple[WellbeingWeek, ...]
    """Weeks asked for, oldest first."""
    concerns: tuple[Concern, ...]
    """Concerns of these weeks, newest first, at most 200; those taken back too."""
    open_concerns: int
    """Concerns that nobody has taken back, ever; 0 or more."""

    @property
    def flag(self) -> bool:
        """Whether a concern of these weeks still stands: look at it."""
        return any(concern.corrected_at is None for concern in self.concerns)
