"""Danger to a student or to others: the one detector that reply, ledger, surprise and wellbeing go by (spec 20).

What the reader makes of a message (`graphmem.text.reader`) says whether it may be danger; what has learned nothing but
danger (`graphmem.text.danger_network`) reads those few again. Beside them stand plain signs that must never be missed
(`graphmem.text.danger_signs`). Made by `scripts/make_safety.py`; figures on untouched rows stand beside the weights.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from graphmem.model import ACUTE, SERIOUS, AboutWhom, ConcernKind, Danger, FalseAlarm
from graphmem.text.danger_network import DangerReading, load_danger_network
from graphmem.text.danger_signs import danger_sign
from graphmem.text.doc import Doc
from graphmem.text.language import ENGLISH, language_of
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


@dataclass(frozen=True)
class DangerModel:
    """How it is told whether a message is danger; `load_danger_model` gives it.

    first : kinds of danger by what the reader tells of a message; the first is none
    suspicion : shape (3,), the parts of the reader's log odds of danger and of those of `first`, and a bias
    suspected : log odds from which on the network reads a message, which takes longer
    judgement : shape (4,), the parts of both and of the network's log odds, and a bias
    threshold : log odds from which on a message raises a concern
    sure : log odds from which on a concern stands in every context
    """

    first: LinearHead
    suspicion: NDArray[np.float64] = field(repr=False)
    suspected: float
    judgement: NDArray[np.float64] = field(repr=False)
    threshold: float
    sure: float

    def evidence(self, reading: MessageReading) -> tuple[float, float]:
        """Log odds of danger of the reader, and of what judges the same by all that the reader tells."""
        none, *dangers = np.log(np.maximum(1e-12, self.first.chances(reading.features)))
        return reading.danger_logit, float(np.logaddexp.reduce(dangers) - none)

    def is_suspected(self, reading: MessageReading) -> bool:
        """True if a message has to be read by the network."""
        return float(self.suspicion[:2] @ self.evidence(reading) + self.suspicion[2]) >= self.suspected

    def score(self, reading: MessageReading, read: DangerReading) -> float:
        """Log odds that somebody is in danger, among messages that are danger as often as not."""
        return float(self.judgement[:3] @ (*self.evidence(reading), read.logit) + self.judgement[3])

    def danger(self, score: float, read: DangerReading, sign: ConcernKind | None) -> Danger:
        """The danger that a message tells of, which raises a concern or has a plain sign.

        What is not sure is never acute, and what has a sign is at least serious.
        """
        urgency, sure = 1 + int(read.urgency.argmax()), sign is not None or score >= self.sure
        return Danger(
            kind=sign or ConcernKind(CONCERNS[1 + int(read.kinds.argmax())]),
            urgency=max(urgency, SERIOUS) if sign else urgency if sure else min(urgency, SERIOUS),
            about=AboutWhom.OTHER if read.about_other >= 0.5 else AboutWhom.SELF,
            probability=_share(score),
            sure=sure,
            sign=sign is not None,
        )


@cache
def load_danger_model(path: Path = DANGER_FILE) -> DangerModel:
    """Read the model, once a process.

    Raises
    ------
    SetupError                          the file is missing or damaged
    """
    with opened_weights(path) as file:
        suspicion, judgement = (file[name].astype(np.float64) for name in ("suspicion", "judgement"))
        suspected, threshold, sure = (float(file[name]) for name in ("suspected", "threshold", "sure"))
        return DangerModel(read_head(file, "first"), suspicion, suspected, judgement, threshold, sure)


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
    if sign is None and not model.is_suspected(reading):
        return None
    read = load_danger_network().read(doc.text)
    if sign is not None and language_of(doc.text) not in ("", ENGLISH):
        # The network has learned from English: who writes such words in another language means themselves.
        read = replace(read, about_other=0.0)
    score = model.score(reading, read)
    return model.danger(score, read, sign) if sign is not None or score >= model.threshold else None


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
