"""Danger to a student or to others: the one detector that reply, ledger, surprise and wellbeing go by (spec 20).

What the reader makes of a message (`graphmem.text.reader`), from a threshold on, which second opinions may overrule,
and raise where another is meant, beside plain signs that must never be missed (`graphmem.text.danger_signs`). Made by
`scripts/make_safety.py`; figures on untouched rows stand beside the weights.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from rapidfuzz import fuzz

from graphmem.model import ACUTE, SERIOUS, AboutWhom, ConcernKind, Danger, FalseAlarm, Vector
from graphmem.text.danger_signs import danger_sign
from graphmem.text.doc import Doc
from graphmem.text.lexicon import is_negation
from graphmem.text.normalize import said, straightened
from graphmem.text.reader import CONCERNS, MessageReading
from graphmem.text.sanitize import clipped
from graphmem.text.trained import LinearHead, opened_weights, read_head

DANGER_FILE = Path(__file__).with_name("weights") / "safety" / "safety.npz"
SIGN_CHARACTERS = 4_000
"""Characters of a piece in which signs are looked for."""
SIGN_OVERLAP = 200
"""Characters that two pieces share."""
UNNAMED_DANGER = Danger(ConcernKind.OTHER_DANGER, SERIOUS)
"""Danger that somebody reports and in whose words the detector finds none: serious until a person has looked."""
ALARM_CHARACTERS = 2_000
"""Characters of a message that are kept with its concern."""
ACUTE_MARGIN = 1.0
"""By how much clearer has to be said that what seems acute is no danger."""


@dataclass(frozen=True)
class OthersModel:
    """What is told of others, and by words like theirs: heads on what the reader tells, which has hardly learned it.

    concern : kinds of danger by their place in `CONCERNS`, the first is none
    urgency : 1 to 3, of what is danger
    about : 1 is another than who writes
    share : its part beside the reader's log odds
    overruled : log odds below which a concern about another is overruled; one that seems acute, `ACUTE_MARGIN` below
    raised : log odds of both together from which on a concern about another is raised whatever the reader says
    """

    concern: LinearHead
    urgency: LinearHead
    about: LinearHead
    share: float
    overruled: float
    raised: float

    def log_odds(self, reading: MessageReading) -> float:
        """Log odds of danger."""
        none, *dangers = np.log(np.maximum(1e-12, self.concern.chances(reading.features)))
        return float(np.logaddexp.reduce(dangers) - none)

    def is_about_other(self, reading: MessageReading) -> bool:
        """True if a danger would rather be another's than the writer's."""
        return bool(self.about.chances(reading.features)[1] >= 0.5)


@dataclass(frozen=True)
class DangerModel:
    """How the reader's log odds of danger are taken; `load_danger_model` gives it.

    others : what judges concerns about others
    opinion : shape (384,), a linear model on the embedding alone, which has not learned with the reader
    opinion_offset, opinion_share : its bias, and its part in both together, beside the reader's log odds
    scale, offset : of what they say of messages that are danger as often as not
    threshold : scaled log odds from which on a message raises a concern
    overruled : log odds of both together below which a concern about the writer is overruled, unless it is acute
    sure : log odds of both together from which on a concern stands in every context
    """

    others: OthersModel
    opinion: Vector = field(repr=False)
    opinion_offset: float
    opinion_share: float
    scale: float
    offset: float
    threshold: float
    overruled: float
    sure: float

    def together(self, reading: MessageReading) -> float:
        """Log odds of the reader and the second opinion together."""
        opinion = float(self.opinion @ reading.vector) + self.opinion_offset
        return reading.danger_logit + self.opinion_share * opinion

    def score(self, reading: MessageReading) -> float:
        """Log odds that somebody is in danger, among messages that are danger as often as not."""
        return self.scale * reading.danger_logit + self.offset

    def alarms(self, reading: MessageReading) -> bool:
        """True if a message raises a concern without a plain sign."""
        others, other = self.others, self.others.is_about_other(reading)
        acute = reader_urgency(reading) >= ACUTE
        if self.score(reading) >= self.threshold:
            if not (other or acute):
                return self.together(reading) >= self.overruled
            if others.log_odds(reading) >= others.overruled - acute * ACUTE_MARGIN:
                return True
        return other and reading.danger_logit + others.share * others.log_odds(reading) >= others.raised

    def danger(self, reading: MessageReading, sign: ConcernKind | None) -> Danger:
        """The danger that a message tells of, which raises a concern or has a plain sign."""
        other = self.others.is_about_other(reading)
        urgency, kinds = reader_urgency(reading), reading.concern
        if other:
            urgency = 1 + int(self.others.urgency.chances(reading.features).argmax())
            kinds = kinds * self.others.concern.chances(reading.features)
        return Danger(
            kind=sign or ConcernKind(CONCERNS[1 + int(kinds[1:].argmax())]),
            urgency=max(urgency, SERIOUS) if sign else urgency,
            about=AboutWhom.OTHER if other else AboutWhom.SELF,
            probability=_share(self.score(reading)),
            sure=sign is not None or urgency >= ACUTE or self.together(reading) >= self.sure,
        )


def reader_urgency(reading: MessageReading) -> int:
    """The likeliest urgency of a danger as the reader sees it, 1 to 3."""
    return 1 + int(reading.urgency[1:].argmax())


@cache
def load_danger_model(path: Path = DANGER_FILE) -> DangerModel:
    """Read the model, once a process.

    Raises
    ------
    SetupError                          the file is missing or damaged
    """
    with opened_weights(path) as file:
        concern, urgency, about = (read_head(file, name) for name in ("concern", "urgency", "about"))
        bounds = (float(file[f"others_{name}"]) for name in ("share", "overruled", "raised"))
        others = OthersModel(concern, urgency, about, *bounds)
        opinion = file["opinion"].astype(np.float32)
        numbers = ("opinion_offset", "opinion_share", "scale", "offset", "threshold", "overruled", "sure")
        return DangerModel(others, opinion, *(float(file[name]) for name in numbers))


def find_danger(doc: Doc, reading: MessageReading) -> Danger | None:
    """Danger that a message tells of; None where it tells of none.

    Parameters
    ----------
    doc : Doc
    reading : MessageReading, of the same message

    Source: spec 20.

    Examples
    --------
    >>> from graphmem.text.reader import read_now
    >>> told, asked = read_now(["Hi! I don’t want to live anymore.", "I think 12 plus 30 is 42."])
    >>> find_danger(Doc("Hi! I don’t want to live anymore."), told).kind.value
    'self_harm'
    >>> find_danger(Doc("I think 12 plus 30 is 42."), asked) is None
    True
    """
    model = load_danger_model()
    sign = sign_anywhere(straightened(doc.text))
    return model.danger(reading, sign) if sign is not None or model.alarms(reading) else None


def sign_anywhere(text: str) -> ConcernKind | None:
    """The kind of the first plain sign of danger in a text of any length, read in pieces; None where there is none."""
    starts = range(0, max(1, len(text) - SIGN_OVERLAP), SIGN_CHARACTERS - SIGN_OVERLAP)
    return next((sign for start in starts if (sign := danger_sign(text[start : start + SIGN_CHARACTERS]))), None)


def _share(score: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, score))))


SAME_ALARM_SCORE = 92.0
"""Fuzzy score from which on two messages are the same false alarm."""


def is_known_alarm(doc: Doc, danger: Danger, alarms: Sequence[FalseAlarm]) -> bool:
    """True if a message is like one of the same student that was no danger after all.

    Like is the same text but for small things, with the same negations, taken for no more urgent than that one was.
    What endangers a life now is never taken for one.

    Examples
    --------
    >>> alarms = [FalseAlarm("the dragon stabbed me again lol", ConcernKind.VIOLENCE, 2)]
    >>> taken = Danger(ConcernKind.VIOLENCE, 2)
    >>> is_known_alarm(Doc("The dragon stabbed me again, lol!"), taken, alarms)
    True
    >>> is_known_alarm(Doc("My uncle stabbed me again lol"), taken, alarms)
    False
    """
    if danger.urgency >= ACUTE:
        return False
    text, negations = said(doc.text), _negations(doc)
    return any(
        danger.urgency <= alarm.urgency
        and fuzz.ratio(text, said(alarm.text)) >= SAME_ALARM_SCORE
        and negations == _negations(Doc(alarm.text))
        for alarm in alarms
    )


def kept_text(text: str) -> str:
    """The part of a message that is kept with its concern."""
    return clipped(text, ALARM_CHARACTERS)


def _negations(doc: Doc) -> int:
    return sum(map(is_negation, doc.words))


_SECRECY = re.compile(
    r"\b(?:won'?t|will not|never|not going to|promise not to) (?:\w+ )?(?:tell|share|say)\b"
    r"|\b(?:our|keep (?:it|this|that)(?: a| as a| as our)?) (?:little )?secret\b"
    r"|\bbetween (?:us|you and me)\b|\bconfidential\b",
    re.IGNORECASE,
)
_HONESTLY = re.compile(r"\b(?:can(?:no|')?t|cannot|not able to|unable to) (?:\w+ ){0,3}$", re.IGNORECASE)
_EXERCISE = re.compile(
    r"\d\s*[-+*/=×÷]\s*\d|\b(?:back to|on with|continue with|carry on with|return to|focus on) (?:the|our|your) "
    r"(?:\w+ )?(?:exercise|lesson|homework|work|task|problem|question|fractions?|maths?|essay)\b|\bnext step\b",
    re.IGNORECASE,
)


def is_careful(reply: str) -> bool:
    """True if a reply to somebody in danger neither promises secrecy nor turns to the exercise, as far as English goes.

    Examples
    --------
    >>> is_careful("I am so glad you told me. I cannot keep this between us.")
    True
    >>> is_careful("I won't tell anyone."), is_careful("Sorry to hear that. What is 3 + 4?")
    (False, False)
    """
    secret = any(not _HONESTLY.search(reply[: hit.start()]) for hit in _SECRECY.finditer(reply))
    return not secret and _EXERCISE.search(reply) is None
