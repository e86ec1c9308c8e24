"""Danger to a student or to others: the one detector that reply, ledger, surprise and wellbeing go by (spec 20).

What the reader makes of a message (`graphmem.text.reader`) together with a second opinion, from a threshold on, beside
plain signs that must never be missed (`graphmem.text.danger_signs`). Made by `scripts/make_safety.py`; figures on
untouched rows stand beside the weights.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from rapidfuzz import fuzz

from graphmem.model import ACUTE, SERIOUS, AboutWhom, ConcernKind, Danger, FalseAlarm
from graphmem.text.danger_signs import danger_sign
from graphmem.text.doc import Doc
from graphmem.text.lexicon import is_negation
from graphmem.text.normalize import said, straightened
from graphmem.text.reader import CONCERNS, MessageReading
from graphmem.text.trained import LinearHead, opened_weights, read_head

DANGER_FILE = Path(__file__).with_name("weights") / "safety" / "safety.npz"
SIGN_CHARACTERS = 4_000
"""Characters of a piece in which signs are looked for."""
SIGN_OVERLAP = 200
"""Characters that two pieces share."""


ACUTE_MARGIN = 1.0
"""By how much clearer the second opinion has to speak against what is acute."""


@dataclass(frozen=True)
class DangerModel:
    """The second opinion, and how it and the reader's are taken together; `load_danger_model` gives it.

    It has learned from what people tell of others, which the reader has not, from the reader's answers and the vector.

    concern : kinds of danger by their place in `CONCERNS`, the first is none
    urgency : of what is danger
    about : 1 is another than who writes
    share : its part beside the reader's log odds
    scale, offset : of both together, so that they are log odds among messages that are danger as often as not
    heard : the reader's log odds from which on it takes a message for danger
    overruled : the second opinion's log odds below which that raises no concern; where the reader finds a life in
        danger now it has to speak against it more clearly, by `ACUTE_MARGIN`
    raised : log odds of both together from which on a concern is raised whatever the reader says
    sure : log odds of both together from which on a concern stands in every context
    """

    concern: LinearHead
    urgency: LinearHead
    about: LinearHead
    share: float
    scale: float
    offset: float
    heard: float
    overruled: float
    raised: float
    sure: float

    def opinion(self, reading: MessageReading) -> float:
        """Log odds of danger by the second opinion alone."""
        none, *dangers = np.log(np.maximum(1e-12, self.concern.chances(reading.features)))
        return float(np.logaddexp.reduce(dangers) - none)

    def together(self, reading: MessageReading) -> float:
        """Log odds of danger by the reader and the second opinion together."""
        return reading.danger_logit + self.share * self.opinion(reading)

    def alarms(self, reading: MessageReading) -> bool:
        """True if a message raises a concern without a plain sign."""
        opinion = self.opinion(reading)
        acute = 1 + int(reading.urgency[1:].argmax()) >= ACUTE
        heard = reading.danger_logit >= self.heard and opinion >= self.overruled - acute * ACUTE_MARGIN
        return heard or reading.danger_logit + self.share * opinion >= self.raised

    def score(self, reading: MessageReading) -> float:
        """Log odds that somebody is in danger, among messages that are danger as often as not."""
        return self.scale * self.together(reading) + self.offset

    def kind_of(self, reading: MessageReading) -> ConcernKind:
        """The likeliest kind of a danger, by both."""
        both = reading.concern * self.concern.chances(reading.features)
        return ConcernKind(CONCERNS[1 + int(both[1:].argmax())])

    def urgency_of(self, reading: MessageReading) -> int:
        """The likeliest urgency of a danger, 1 to 3."""
        return 1 + int(self.urgency.chances(reading.features).argmax())

    def whom(self, reading: MessageReading) -> AboutWhom:
        """Whom a danger is likely about."""
        return AboutWhom.OTHER if self.about.chances(reading.features)[1] >= 0.5 else AboutWhom.SELF


@cache
def load_danger_model(path: Path = DANGER_FILE) -> DangerModel:
    """Read the model, once a process.

    Raises
    ------
    SetupError                          the file is missing or damaged
    """
    with opened_weights(path) as file:
        concern, urgency, about = (read_head(file, name) for name in ("concern", "urgency", "about"))
        numbers = (float(file[name]) for name in ("share", "scale", "offset", "heard", "overruled", "raised", "sure"))
        return DangerModel(concern, urgency, about, *numbers)


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
    if sign is None and not model.alarms(reading):
        return None
    urgency = model.urgency_of(reading)
    sure = sign is not None or urgency >= ACUTE or model.together(reading) >= model.sure
    kind = sign or model.kind_of(reading)
    return Danger(
        kind, max(urgency, SERIOUS) if sign else urgency, model.whom(reading), _share(model.score(reading)), sure
    )


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
