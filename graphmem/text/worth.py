"""Worth of a clause for a student's memory, and of a tutoring turn: learned from labelled dialogues (spec 7)."""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphmem.maths.chances import softmax
from graphmem.model import Domain, MemoryKind
from graphmem.text.arithmetic import equations
from graphmem.text.doc import Doc
from graphmem.text.reader import DOMAINS, KINDS, MessageReading
from graphmem.text.trained import opened_weights

WORTH_FILE = Path(__file__).parent / "weights" / "worth" / "worth.npz"
CLAUSE_KINDS = ("nothing", "trait", "plan", "feeling", "episode", "work")
"""What a clause may tell; `work` is knowledge of the subject matter, right or wrong."""
TURN_KINDS = ("nothing", "misconception", "understanding")
"""What a turn of work on a task may show."""
OWN_BELOW = 0.5
"""Chance that a message tells nothing, below which it is a matter of its speaker's own."""

_SELF = re.compile(r"\b(?:i|i'm|im|my|me|we|our|mine|i've|ive|i'll|i'd)\b", re.IGNORECASE)
_ALONE = re.compile(r"\b(?:i|i'm|im|my|me|mine|myself|i've|ive|i'll|i'd)\b", re.IGNORECASE)
_TOGETHER = re.compile(r"\b(?:we|we're|us|our|ours|let's)\b", re.IGNORECASE)
_POINTS_AT = re.compile(r"^\W*(?:it|that|this|those|these|what|nothing|every|such)\b", re.IGNORECASE)
_LISTENER = re.compile(r"\b(?:you|u|your|ur)\b", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_REJECTS = re.compile(
    r"^\W*(?:no\b|not quite|not exactly|not really|wrong|incorrect|almost|careful|are you sure|hmm|but |i don'?t think"
    r"|remember|try again|close)|\b(?:not quite|incorrect|mistake|wrong)\b",
    re.IGNORECASE,
)
_DOUBTS = re.compile(
    r"\b(?:no|not|isn't|error|recheck|re-?check|re-?read|check|again|sure|remember|but|however|actually|try|think"
    r"|instead|doesn't|didn't|only|look|why)\b",
    re.IGNORECASE,
)
_PRAISE = (
    r"(?:yes|yep|yeah|correct|that'?s (?:right|correct|it)|right|great|good|well done"
    r"|brilliant|exactly|perfect|super|excellent|awesome|amazing|fantastic|nice"
    r"|spot on)\b"
)
_ACCEPTS = re.compile(rf"^\W*{_PRAISE}", re.IGNORECASE)
_PRAISES = re.compile(rf"\b{_PRAISE}", re.IGNORECASE)
_SEES = re.compile(
    r"\b(?:oh|i see|i understand|got it|i get it|you'?re right|makes sense|i made a mistake|sorry|ah|now i)\b",
    re.IGNORECASE,
)
_REASONS = re.compile(
    r"\b(?:because|since|so|therefore|cause|i thought|i assumed|need to|should|have to)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class TutoringTurn:
    """A student's message at work on a task, with the tutor's lines around it.

    reply : what the tutor said to it; empty where that is not known
    """

    text: str
    before: str = ""
    reply: str = ""


@dataclass(frozen=True)
class WorthModel:
    """Weights of the multinomial logistic regressions, one row a kind; the first column is the bias.

    clauses : of clauses
    turns : of turns of work
    """

    clauses: NDArray[np.float64]
    turns: NDArray[np.float64]

    def of_clause(self, clause: Doc, reading: MessageReading) -> NDArray[np.float64]:
        """Probabilities of `CLAUSE_KINDS` of a clause that the reader has read."""
        return _chances(self.clauses, clause_features(clause, reading))

    def of_turn(self, turn: TutoringTurn) -> NDArray[np.float64]:
        """Probabilities of `TURN_KINDS`."""
        return _chances(self.turns, turn_features(turn))


def clause_features(clause: Doc, reading: MessageReading) -> NDArray[np.float64]:
    """Features of a clause: its surface, about 0 to 1 each, what the reader makes of it, its vector."""
    text, words = clause.text, clause.text.split()
    count = max(1, len(words))
    return np.array(
        [
            _SELF.search(text) is not None,
            "?" in text,
            sum(_DIGIT.search(word) is not None for word in words) / count,
            "=" in text,
            np.log1p(len(words)) / 3,
            clause.negates,
            bool(clause.time_words),
            min(2, len(clause.entities)) / 2,
            _LISTENER.search(text) is not None,
            count <= 2,
            _REASONS.search(text) is not None,
            "!" in text,
            _ALONE.search(text) is not None,
            _TOGETHER.search(text) is not None,
            _POINTS_AT.search(text) is not None,
            *reading.features,
        ],
        dtype=np.float64,
    )


def turn_features(turn: TutoringTurn) -> NDArray[np.float64]:
    """Features of a turn of work: its reckoning, and how the tutor takes it."""
    text, reply, before = turn.text, turn.reply, turn.before
    accepted, sees = _ACCEPTS.search(reply) is not None, _SEES.search(text) is not None
    return np.array(
        [
            np.log1p(len(text.split())) / 3,
            min(6, text.count("=")) / 3,
            any(not equation.holds for equation in equations(text)),
            _REJECTS.search(reply) is not None,
            _DOUBTS.search(reply) is not None,
            accepted,
            _PRAISES.search(reply) is not None,
            not reply,
            _REJECTS.search(before) is not None,
            _DOUBTS.search(before) is not None,
            _ACCEPTS.search(before) is not None,
            "?" in before,
            sees,
            _REASONS.search(text) is not None,
            _SELF.search(text) is not None,
            sees and accepted,
            _DIGIT.search(text) is not None,
            "?" in text,
        ],
        dtype=np.float64,
    )


def is_own_matter(message: Doc, reading: MessageReading) -> bool:
    """True if a message is work on a subject, or tells something of its speaker: others only react to what they heard.

    Examples
    --------
    >>> from graphmem.text.reader import read_now
    >>> texts = ["My telescope is broken.", "9 - 4 = 5, so she has 5 left.", "Wow, that sounds amazing! Where was it?"]
    >>> [is_own_matter(Doc(text), reading) for text, reading in zip(texts, read_now(texts))]
    [True, True, False]
    """
    nothing = load_worth().of_clause(message, reading)[CLAUSE_KINDS.index("nothing")]
    return reading.likely_kind is MemoryKind.CONCEPT or bool(nothing < OWN_BELOW)


def work_chance(reading: MessageReading) -> float:
    """Chance that a message is work on a subject of school, in [0, 1].

    Examples
    --------
    >>> from graphmem.text.reader import read_now
    >>> work, life = read_now(["9 - 4 = 5, so she has 5 apples left.", "My brother and I hike every Sunday."])
    >>> work_chance(work) > 0.8, work_chance(life) < 0.1
    (True, True)
    """
    return float(reading.kind[KINDS.index(MemoryKind.CONCEPT)] * reading.domain[DOMAINS.index(Domain.SCHOOL)])


def rejects(reply: str) -> bool:
    """True if a tutor's reply says that what was said is wrong, not only that it should be looked at.

    Examples
    --------
    >>> rejects("Not quite. Try again."), rejects("How many are there in a day?")
    (True, False)
    """
    return _REJECTS.search(reply) is not None


def doubts(reply: str) -> bool:
    """True if a tutor's reply says that what was said is wrong, or asks to look at it once more.

    Examples
    --------
    >>> doubts("Not quite."), doubts("Are you sure? Read the second sentence once more."), doubts("Go on.")
    (True, True, False)
    """
    return rejects(reply) or _DOUBTS.search(reply) is not None


def accepts(reply: str) -> bool:
    """True if a tutor's reply praises what was said or calls it right, and nothing in it wrong.

    Examples
    --------
    >>> accepts("Good, that is the correct answer."), accepts("Not quite right.")
    (True, False)
    """
    return _PRAISES.search(reply) is not None and not rejects(reply)


@lru_cache(maxsize=1)
def load_worth(path: Path = WORTH_FILE) -> WorthModel:
    """Read the weights, once a process.

    Raises
    ------
    SetupError                          the file is missing or damaged

    Examples
    --------
    >>> from graphmem.text.reader import read_now
    >>> (reading,) = read_now(["ok thanks"])
    >>> CLAUSE_KINDS[int(load_worth().of_clause(Doc("ok thanks"), reading).argmax())]
    'nothing'
    """
    with opened_weights(path) as file:
        return WorthModel(**{name: file[name].astype(np.float64) for name in WorthModel.__dataclass_fields__})


def _chances(weights: NDArray[np.float64], features: NDArray[np.float64]) -> NDArray[np.float64]:
    return softmax(weights[:, 0] + weights[:, 1:] @ features)
