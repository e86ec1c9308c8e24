"""Which clauses belong into the ledger, and under which category: learned from messages and real talk (spec 8).

The reader has a guess of its own, but it has seen little ordinary talk: in chats four of five of its guesses were
wrong. Made by `scripts/make_ledger.py`; the figures stand beside the weights.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphmem.maths.chances import softmax
from graphmem.model import LedgerCategory
from graphmem.text.reader import LEDGER_CATEGORIES, MessageReading
from graphmem.text.trained import opened_weights

LEDGER_FILE = Path(__file__).with_name("weights") / "ledger" / "ledger.npz"
LEDGER_CHANCE = 0.55
"""Chance that a clause belongs into the ledger from which it is kept."""
SURE_CATEGORY = 0.4
"""Chance that its category needs."""
SURE_INSTRUCTION = 0.5
"""The same of an instruction, which binds whoever reads it."""


@dataclass(frozen=True)
class LedgerModel:
    """Multinomial logistic regression over what the reader makes of a clause; `load_ledger_model` gives one.

    weights : of shape (8, features), rows in the order of `LEDGER_CATEGORIES`
    bias : of shape (8,)
    """

    weights: NDArray[np.float32] = field(repr=False)
    bias: NDArray[np.float32] = field(repr=False)

    def chances(self, reading: MessageReading) -> NDArray[np.float32]:
        """Chances of `LEDGER_CATEGORIES`, which sum to 1."""
        return softmax(self.weights @ reading.features + self.bias)

    def category(self, reading: MessageReading) -> LedgerCategory | None:
        """The category that a clause is kept under; None where it does not belong into the ledger.

        Examples
        --------
        >>> from graphmem.text.reader import read_now
        >>> owed, sold = read_now(["I still owe my cousin ten euros.", "I sold my old skates at the fair."])
        >>> load_ledger_model().category(owed).value, load_ledger_model().category(sold)
        ('debt', None)
        """
        chances = self.chances(reading)
        best = 1 + int(chances[1:].argmax())
        category = LEDGER_CATEGORIES[best]
        least = SURE_INSTRUCTION if category is LedgerCategory.INSTRUCTION else SURE_CATEGORY
        return category if 1 - chances[0] >= LEDGER_CHANCE and chances[best] >= least else None


@lru_cache(maxsize=1)
def load_ledger_model(path: Path = LEDGER_FILE) -> LedgerModel:
    """Read the weights, once a process.

    Raises
    ------
    SetupError      the file is missing or damaged
    """
    with opened_weights(path) as file:
        return LedgerModel(file["weights"], file["bias"])
