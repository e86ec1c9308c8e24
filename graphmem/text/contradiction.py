"""How two statements of one person stand to each other: a small network that reads both together (spec 12).

It reads on from the lower layers of the shipped embedder, beside what plainly parts the two (numbers, negation, words).
`scripts/train/contradiction.py` makes it, and its figures stand beside it.

Two further networks read both texts: whether a statement answers a question (`scripts/train/answering.py`), and the
chance that the older of two holds no longer (`scripts/train/ending.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmem.maths.chances import logistic, softmax
from graphmem.model import PairClass
from graphmem.text.doc import Doc, question_in
from graphmem.text.embedder import DIMENSION, ShippedNetwork, open_network, shipped_network
from graphmem.text.networks import load_pair_network
from graphmem.text.pairs import Compared, are_alike, pair_features
from graphmem.text.stems import stem
from graphmem.text.words import word_rarity

CONTRADICTION_FOLDER = Path(__file__).with_name("weights") / "contradiction"
PAIR_CLASSES = tuple(PairClass)
ENDED_FOR_SURE = 0.8
"""Chance from which the older of two statements holds no longer."""
CONTRADICTORY = 0.75
"""Chance that both cannot be so, from which two statements contradict each other; doubt keeps both."""
FEATURE_BOUND = 3.0
"""Features beyond are taken for this."""


ANSWERING_FOLDER = Path(__file__).with_name("weights") / "answering"
RARE_WORD, MOST_SHARED = 2.8, 2
"""Rarity from which on a word tells what a text is about, and how many of them in common are enough."""
AT_NOTHING, OF_LIKENESS, OF_RANK, OF_WORDS = -3.85, 5.07, 0.6, 1.98
"""Log odds that a line is about a question where nothing speaks for it; what likeness, weight beside the best line and
words in common add. Fitted to 141 questions of the shipped chats, whose evidence is known; the network made them surer
of a student's own questions, and less sure of a tutor's, so that it is asked for replies only."""
AT_EVEN, OF_ABOUT, OF_NETWORK = 0.37, 0.7, 0.27
"""What those log odds and the network's count for an answer. Fitted to the same."""
ANSWERS, NEAREST = -0.6, -1.5
"""Fitness from which on a statement is taken for an answer, and from which on it comes near: chat by chat left out, of
97 answers 45 are quoted (47 with the network and likeness alone), 15 statements in vain (18), and for 27 questions of
what was never told 8 (10)."""
READ_CHARACTERS = 300
"""Characters of the longest message that is read as a whole with what may answer it."""
ENDING_FOLDER = Path(__file__).with_name("weights") / "ending"


@dataclass(frozen=True)
class PairReading:
    """How two statements stand to each other.

    chances : of `PAIR_CLASSES`, adding up to 1
    ended : 0..1, chance that the older one holds no longer, nor can stand beside the newer one
    clash : 0..1, chance that they cannot both be so at one time
    """

    chances: NDArray[np.float32] = field(repr=False)
    ended: float
    clash: float

    @property
    def likely(self) -> PairClass:
        """The likeliest class."""
        return PAIR_CLASSES[int(self.chances.argmax())]

    @property
    def opposed(self) -> float:
        """0..1, chance of the classes in which both cannot be so at one time; what a student says is seldom a debate.

        `clash` has learned from claims in debates, too, half of which clash, and is surer.
        """
        return float(sum(self.chances[place] for place, kind in enumerate(PAIR_CLASSES) if kind.clashes))

    @property
    def denies(self) -> bool:
        """True if both surely cannot be so, and nothing tells of a change."""
        return self.likely is PairClass.TRUE_CONTRADICTION and self.opposed >= CONTRADICTORY


VECTORS_HELD = 512
"""Statements whose embeddings are kept."""
SAME_READING = PairReading(
    np.eye(len(PAIR_CLASSES), dtype=np.float32)[PAIR_CLASSES.index(PairClass.COMPATIBLE)], 0.0, 0.0
)
"""The reading of two statements that say the same."""


class ContradictionNetwork:
    """Reads pairs of statements; may be used by several threads at once.

    Raises
    ------
    SetupError      a file is missing or damaged
    """

    def __init__(self, network: ShippedNetwork, threads: int, folder: Path = CONTRADICTION_FOLDER) -> None:
        self._network = network
        # A new statement is compared with several, and those with one after the other.
        self._vector = lru_cache(maxsize=VECTORS_HELD)(lambda text: network.encode([text])[0])
        self._session: Any = open_network(folder, threads)

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[PairReading]:
        """Readings of pairs, the older statement first."""
        return [self._read(old, new) for old, new in pairs]

    def _read(self, old: str, new: str) -> PairReading:
        vectors = np.stack([self._vector(old), self._vector(new)])
        if _says_the_same(old, new, vectors):
            return SAME_READING
        hidden, second = self._network.seen_pair(old, new)
        given = {
            "hidden": hidden,
            "second": second[np.newaxis].astype(np.float32),
            "features": statement_features(old, new, vectors)[np.newaxis],
        }
        (answers,) = self._session.run(["answers"], given)
        return read_answers(answers[0])


def _says_the_same(old: str, new: str, vectors: NDArray[np.float32]) -> bool:
    """True of what is only said again, with all content words of the shorter: the network has hardly seen that."""
    one, other = Compared(Doc(old), vectors[0]), Compared(Doc(new), vectors[1])
    held = one.content.keys() <= other.content.keys() or other.content.keys() <= one.content.keys()
    return held and are_alike(one, other)


def statement_features(old: str, new: str, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """What plainly parts two statements, of shape (n,); `vectors` are their embeddings, of shape (2, 384)."""
    nothing = Compared(Doc(""), np.zeros(DIMENSION, dtype=np.float32))
    found = pair_features(nothing, Compared(Doc(old), vectors[0]), Compared(Doc(new), vectors[1]))
    return np.clip(found, -FEATURE_BOUND, FEATURE_BOUND).astype(np.float32)


def read_answers(answers: NDArray[np.float32]) -> PairReading:
    """The reading that a network's numbers stand for, of shape (7,): five classes, ended, clash."""
    chances = softmax(answers[:5])
    replaced = 1.0 - float(chances[PAIR_CLASSES.index(PairClass.COMPATIBLE)])
    return PairReading(chances, replaced * logistic(answers[5]), logistic(answers[6]))


@lru_cache(maxsize=1)
def load_contradiction_network() -> ContradictionNetwork:
    """The network that ships, once a process.

    Raises
    ------
    SetupError      a file is missing or damaged

    Examples
    --------
    >>> (reading,) = load_contradiction_network().read([("My sister works at the bakery.", "My uncle sails.")])
    >>> reading.likely.value
    'compatible'
    """
    return ContradictionNetwork(shipped_network(1), 1)


def asked_text(message: Doc) -> str:
    """A message that asks, or the question in it where it is long: what stands around one says of whom it is.

    Examples
    --------
    >>> asked_text(Doc("I must write to my teacher. What is her name?"))
    'I must write to my teacher. What is her name?'
    """
    return message.text if len(message.text) <= READ_CHARACTERS else question_in(message).text


def telling_stems(text: Doc) -> frozenset[str]:
    """Return stems of the words of a text that are rare enough to tell what it is about."""
    words = (word for word in text.excerpt.plain_words if word[0].isalpha() and word_rarity(word) >= RARE_WORD)
    return frozenset(map(stem, words))


def about_odds(asked: frozenset[str], line: str | Doc, similarity: float, share: float = 0.0) -> float:
    """Return the log odds that a line is about what is asked.

    Parameters
    ----------
    asked : stems of the telling words of the question
    line : str or its Doc, where there is one
    similarity : cosine of the line with the question
    share : weight of the line beside the best one's, where it was searched for

    Examples
    --------
    >>> asked = telling_stems(Doc("How are the otters?"))
    >>> about_odds(asked, "I have two otters.", 0.4) > about_odds(asked, "I swim on Mondays.", 0.4)
    True
    """
    shared = asked & (Doc(line) if isinstance(line, str) else line).excerpt.stems
    words = min(1.0, len(shared) / MOST_SHARED)
    return AT_NOTHING + OF_LIKENESS * similarity + OF_RANK * share + OF_WORDS * words


def answer_fitness(
    question: str, statements: Sequence[str], about: Sequence[float], folder: Path = ANSWERING_FOLDER
) -> list[float]:
    """Return how well each of the statements that come nearest to a question answers it.

    Parameters
    ----------
    question : str
    statements : sequence of str
    about : log odds that each statement is about the question
    folder : of the network

    Returns
    -------
    list of float, log odds

    Raises
    ------
    SetupError      a file is missing or damaged

    Examples
    --------
    >>> told = ["I have a cat called Duma.", "I play chess on Fridays."]
    >>> cat, chess = answer_fitness("What's my cat called?", told, [1.0, -2.8])
    >>> cat > ANSWERS > chess
    True
    """
    logits = load_pair_network(folder).logits(question, statements)
    return [AT_EVEN + OF_ABOUT * odds + OF_NETWORK * logit for logit, odds in zip(logits, about, strict=True)]


def ended_chance(new: str, old: str, folder: Path = ENDING_FOLDER) -> float:
    """The chance that an older statement holds no longer.

    Parameters
    ----------
    new : str, what the student says now, in the student's own words
    old : str, what is remembered
    folder : of the network

    Returns
    -------
    float in (0, 1)

    Raises
    ------
    SetupError      a file of the network is missing or damaged

    Examples
    --------
    >>> moved = ended_chance("We moved to Leeds.", "The student lives in Hamburg.")
    >>> moved > ended_chance("My cat had kittens.", "The student lives in Hamburg.")
    True
    """
    return logistic(load_pair_network(folder).logit(new, old))
