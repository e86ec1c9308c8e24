"""How two statements of one person stand to each other: a small network that reads both together (spec 12).

It reads on from the lower layers of the shipped embedder, beside what plainly parts the two (numbers, negation, words).
`scripts/train/contradiction.py` makes it, and its figures stand beside it.
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
from graphmem.text.doc import Doc
from graphmem.text.embedder import DIMENSION, ShippedNetwork, open_network, shipped_network
from graphmem.text.pairs import Compared, Likeness, likeness, pair_features

CONTRADICTION_FOLDER = Path(__file__).with_name("weights") / "contradiction"
PAIR_CLASSES = tuple(PairClass)
ENDED_FOR_SURE = 0.8
"""Chance from which the older of two statements holds no longer."""
FEATURE_BOUND = 3.0
"""Features beyond are taken for this."""


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
    def chance(self) -> float:
        """Chance of the likeliest class."""
        return float(self.chances.max())


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
        self._session: Any = open_network(folder, threads)

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[PairReading]:
        """Readings of pairs, the older statement first."""
        return [self._read(old, new) for old, new in pairs]

    def _read(self, old: str, new: str) -> PairReading:
        vectors = self._network.encode([old, new])
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
    return held and likeness(one, other) is Likeness.SAME


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
