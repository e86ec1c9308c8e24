"""Danger to a student or to others: the one detector that reply, ledger, surprise and wellbeing go by (spec 20).

What the reader makes of a message (`graphmem.text.reader`), from a threshold on, beside plain signs that must never be
missed (`graphmem.text.danger_signs`). Made by `scripts/make_safety.py`; figures on untouched rows stand in the file.
"""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from rapidfuzz import fuzz

from graphmem.errors import SetupError
from graphmem.model import ACUTE, SERIOUS, AboutWhom, ConcernKind, Danger, FalseAlarm, Vector
from graphmem.text.danger_signs import danger_sign
from graphmem.text.doc import Doc
from graphmem.text.lexicon import is_negation
from graphmem.text.normalize import said, straightened
from graphmem.text.reader import MessageReading

DANGER_FILE = Path(__file__).with_name("weights") / "safety" / "safety.json"
SIGN_CHARACTERS = 4_000
"""Characters of a piece in which signs are looked for."""
SIGN_OVERLAP = 200
"""Characters that two pieces share."""


@dataclass(frozen=True)
class DangerModel:
    """How the reader's log odds of danger are taken; `load_danger_model` gives it.

    scale, offset : of what they say of messages that are danger as often as not
    threshold : scaled log odds from which on a message raises a concern
    opinion : shape (384,), a linear model on the embedding alone, which has not learned with the reader
    opinion_offset : its bias
    opinion_share : its part in both together, beside the reader's log odds
    overruled : log odds of both together below which the second opinion overrules the reader's, unless
        a life is in danger now or another person is meant
    sure : log odds of both together from which on a concern stands in every context
    """

    scale: float
    offset: float
    threshold: float
    opinion: Vector = field(repr=False)
    opinion_offset: float
    opinion_share: float
    overruled: float
    sure: float

    def together(self, reading: MessageReading) -> float:
        """Log odds of the reader and the second opinion together."""
        opinion = float(self.opinion @ reading.vector) + self.opinion_offset
        return reading.danger_logit + self.opinion_share * opinion

    def score(self, reading: MessageReading) -> float:
        """Log odds that somebody is in danger, among messages that are danger as often as not."""
        return self.scale * reading.danger_logit + self.offset


@cache
def load_danger_model(path: Path = DANGER_FILE) -> DangerModel:
    """Read the model, once a process.

    Raises
    ------
    SetupError                          the file is missing or damaged
    """
    try:
        stored = json.loads(path.read_text("utf-8"))
        opinion = np.array(stored.pop("opinion"), dtype=np.float32)
        numbers = {name: float(stored[name]) for name in DangerModel.__dataclass_fields__ if name != "opinion"}
        return DangerModel(opinion=opinion, **numbers)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SetupError(f"The detector of danger in {path} cannot be loaded ({error}): install again.") from error


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
    score, together = model.score(reading), model.together(reading)
    sign = sign_anywhere(straightened(doc.text))
    urgency = 1 + int(reading.urgency[1:].argmax())
    about = AboutWhom.OTHER if reading.about_other >= 0.5 else AboutWhom.SELF
    # It has hardly learned how people report what happens to others.
    overruled = urgency < ACUTE and about is AboutWhom.SELF and together < model.overruled
    if sign is None and (score < model.threshold or overruled):
        return None
    kind = sign or list(ConcernKind)[int(reading.concern[1:].argmax())]
    sure = sign is not None or urgency >= ACUTE or together >= model.sure
    return Danger(kind, max(urgency, SERIOUS) if sign else urgency, about, _share(score), sure)


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
