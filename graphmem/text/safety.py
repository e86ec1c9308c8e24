"""Danger to a student or to others: the one detector that reply, ledger, surprise and wellbeing go by (spec 20).

A linear model on the message's embedding, its hashed words and letters and a few marks of its surface, beside plain
signs that must never be missed (`graphmem.text.danger_signs`). Made by `scripts/make_safety.py`; figures on untouched
rows stand beside the weights.
"""

import math
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from graphmem.errors import SetupError
from graphmem.model import ACUTE, SERIOUS, AboutWhom, ConcernKind, Danger, FalseAlarm, Vector
from graphmem.text.danger_signs import danger_sign
from graphmem.text.doc import Doc
from graphmem.text.lexicon import is_negation
from graphmem.text.normalize import said, straightened

DANGER_FILE = Path(__file__).with_name("weights") / "safety" / "safety.npz"
DANGER_BUCKETS = 1 << 14
DANGER_CHARACTERS = 2_000
"""Characters the model reads; signs are looked for in all of a text."""
SIGN_CHARACTERS = 4_000
"""Characters of a piece in which signs are looked for."""
SIGN_OVERLAP = 200
"""Characters that two pieces share."""
DANGER_HEADS = ("concern", *ConcernKind, "serious", "acute", "other")
"""What the model reads, each a number that a logistic function makes a probability."""

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_FIRST = frozenset(["i", "i'm", "i've", "im", "ive", "my", "me", "mine", "myself"])
_THIRD = frozenset(["he", "she", "they", "him", "her", "them", "his", "their"])
_DENIED = frozenset(["nobody", "alone", "never", "anymore", "always", "cant", "can't", "dont", "don't", "not", "no"])
_LAUGHS = re.compile(r"\b(?:lol|lmao|haha\w*)\b|[😂🤣💀]")


@dataclass(frozen=True)
class DangerModel:
    """Weights of the detector; `load_danger_model` gives them.

    vector, words, letters, surface, bias : one row for each of `DANGER_HEADS`
    plain_words, plain_letters, plain_surface, plain_bias : of the first head, where there is no vector
    threshold, plain_threshold : scores from which on a message raises a concern
    """

    vector: NDArray[np.float32] = field(repr=False)
    words: NDArray[np.float32] = field(repr=False)
    letters: NDArray[np.float32] = field(repr=False)
    surface: NDArray[np.float32] = field(repr=False)
    bias: NDArray[np.float32] = field(repr=False)
    plain_words: NDArray[np.float32] = field(repr=False)
    plain_letters: NDArray[np.float32] = field(repr=False)
    plain_surface: NDArray[np.float32] = field(repr=False)
    plain_bias: NDArray[np.float32] = field(repr=False)
    threshold: float
    plain_threshold: float

    def scores(self, text: str, vector: Vector | None) -> NDArray[np.float32]:
        """Scores of a text, one for each of `DANGER_HEADS`; without a vector the first is less sure."""
        words, letters, marks = danger_features(text)
        found = self.bias + _summed(self.words, words) + _summed(self.letters, letters) + self.surface @ marks
        if vector is not None:
            return np.asarray(found + self.vector @ vector, dtype=np.float32)
        plain = _summed(self.plain_words, words) + _summed(self.plain_letters, letters) + self.plain_surface @ marks
        found[0] = (self.plain_bias + plain)[0]
        return np.asarray(found, dtype=np.float32)


@cache
def load_danger_model(path: Path = DANGER_FILE) -> DangerModel:
    """Read the weights, once a process.

    Raises
    ------
    SetupError                          the file is missing or damaged
    """
    try:
        with path.open("rb") as raw, np.load(raw) as file:
            # Kept in half precision, summed in full: four times as fast.
            arrays = {name: file[name].astype(np.float32) for name in DangerModel.__dataclass_fields__}
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise SetupError(f"The detector of danger in {path} cannot be loaded ({error}): install again.") from error
    return DangerModel(**(arrays | {name: float(arrays[name]) for name in ("threshold", "plain_threshold")}))


def danger_features(text: str) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Hashed words and letters of the beginning of a text, each once, and 11 marks of its surface.

    Examples
    --------
    >>> words, letters, marks = danger_features("I am so tired.")
    >>> len(words), len(marks)
    (9, 11)
    """
    read = text[:DANGER_CHARACTERS].lower().replace("’", "'")
    words = _WORD.findall(read)
    spaced = f" {' '.join(read.split())} "
    letters = {f"c{spaced[i : i + n]}" for n in (3, 4, 5) for i in range(len(spaced) - n + 1)}
    return _hashed(set(_phrases(words))), _hashed(letters), _marks(text[:DANGER_CHARACTERS], words)


def find_danger(doc: Doc, vector: Vector | None = None) -> Danger | None:
    """Danger that a message tells of; None where it tells of none.

    Parameters
    ----------
    doc : Doc
    vector : array of shape (384,), its embedding by the shipped model `onnx:all-MiniLM-L6-v2`; None where another model
        embeds: then words and letters decide, which is weaker

    Source: spec 20.

    Examples
    --------
    >>> find_danger(Doc("Hi! I don’t want to live anymore.")).kind.value
    'self_harm'
    >>> find_danger(Doc("I think 12 plus 30 is 42.")) is None
    True
    """
    model = load_danger_model()
    scores = model.scores(doc.text, vector)
    sign = sign_anywhere(straightened(doc.text))
    if sign is None and scores[0] < (model.plain_threshold if vector is None else model.threshold):
        return None
    told = dict(zip(DANGER_HEADS, scores.tolist(), strict=True))
    kind = sign or max(ConcernKind, key=lambda each: told[each])
    urgency = ACUTE if told["acute"] >= 0 else SERIOUS if told["serious"] >= 0 or sign else 1
    about = AboutWhom.OTHER if told["other"] >= 0 else AboutWhom.SELF
    return Danger(kind, urgency, about, _share(told["concern"]))


def sign_anywhere(text: str) -> ConcernKind | None:
    """The kind of the first plain sign of danger in a text of any length, read in pieces; None where there is none."""
    starts = range(0, max(1, len(text) - SIGN_OVERLAP), SIGN_CHARACTERS - SIGN_OVERLAP)
    return next((sign for start in starts if (sign := danger_sign(text[start : start + SIGN_CHARACTERS]))), None)


def _phrases(words: Sequence[str]) -> Iterator[str]:
    for n in (1, 2, 3):
        for i in range(len(words) - n + 1):
            yield f"w{' '.join(words[i : i + n])}"


def _hashed(terms: set[str]) -> NDArray[np.int64]:
    return np.array([zlib.crc32(term.encode("utf-8", "replace")) % DANGER_BUCKETS for term in terms], dtype=np.int64)


def _marks(text: str, words: Sequence[str]) -> NDArray[np.float32]:
    known = set(words)
    return np.array(
        [
            len(text) / 200,
            len(words) / 30,
            "?" in text,
            "!" in text,
            len(known & _FIRST) / 2,
            len(known & _THIRD) / 2,
            sum(map(str.isdigit, text)) / 10,
            text[:1].isupper(),
            _LAUGHS.search(text.lower()) is not None,
            not text.isascii(),
            len(known & _DENIED) / 2,
        ],
        dtype=np.float32,
    )


def _summed(weights: NDArray[np.float32], buckets: NDArray[np.int64]) -> NDArray[np.float32]:
    """Sum of the weights of some buckets, normalised by their number: long texts do not count more."""
    total = weights[:, buckets].sum(axis=1)
    return np.asarray(total / math.sqrt(max(1, len(buckets))), dtype=np.float32)


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
