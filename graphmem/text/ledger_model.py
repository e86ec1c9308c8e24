"""Which clauses belong into the ledger, and under which category: learned from messages and real talk (spec 8).

What the encoder tells of a statement says whether it may belong there, at no cost; a small network that reads on from
the lower layers of the shipped embedder judges those that may. Made by `scripts/train/ledger.py`; the figures
stand beside the weights.
"""

from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Any

from graphmem.language.heads import MESSAGE, HeadScores
from graphmem.maths.chances import softmax
from graphmem.model import LedgerCategory, Vector
from graphmem.text.embedder import ShippedNetwork, open_network, shipped_network

LEDGER_FOLDER = Path(__file__).with_name("weights") / "ledger"
MAY_BELONG = 0.1
"""Chance that a statement belongs into the ledger, by the encoder, from which the network judges it: of held-out rows
98.9 % of what belongs there is judged, and 71 % of what only sounds so; of ordinary messages 9 %."""
LEDGER_CHANCE = 0.85
"""Chance that it belongs there, by the network, from which it is kept."""
SURE_CATEGORY = 0.18
"""Chance that its category needs."""
SURE_WISH = 0.75
"""Chance from which it is an instruction about style and pace."""
SURE_INSTRUCTION = 0.99
"""Chance that it is an order or such a wish, from which it is an instruction: what friends wish each other sounds much
like an order."""
JUDGED = MESSAGE.heads["ledger"].labels
"""What the network tells apart: a wish is about style and pace (how to explain, how to talk, what to call somebody), an
order would change duties, marks, what others said or the service's own rules; both are instructions."""
_CATEGORIES = tuple(None if name == LedgerCategory.THREAT else LedgerCategory(name) for name in JUDGED[1:-2])
"""What an entry is kept under; danger is told by its own detector."""


class LedgerJudge:
    """Judges clauses; may be used by several threads at once; `load_ledger_judge` gives one.

    Raises
    ------
    SetupError      a file is missing or damaged
    """

    def __init__(self, network: ShippedNetwork, threads: int, folder: Path = LEDGER_FOLDER) -> None:
        self._network = network
        self._session: Any = open_network(folder, threads)

    def chances(self, clause: str) -> Vector:
        """Chances of `JUDGED`, shape (9,), of a clause of which the first 256 tokens count."""
        _, hidden = self._network.seen(clause)
        return softmax(self._session.run(None, {"hidden": hidden})[0][0])

    def category(self, clause: str) -> LedgerCategory | None:
        """The category that a clause is kept under; None where it does not belong into the ledger.

        Examples
        --------
        >>> judge = load_ledger_judge()
        >>> [judge.category(each) for each in ("Don't let it get you down!", "Don't tell me the answer so fast.")]
        [None, <LedgerCategory.INSTRUCTION: 'instruction'>]
        """
        none, *chances, wish, order = map(float, self.chances(clause))
        if 1 - none < LEDGER_CHANCE:
            return None
        if wish >= SURE_WISH or wish + order >= SURE_INSTRUCTION:
            return LedgerCategory.INSTRUCTION
        # "Don't tell my mum I quit" orders silence, too, and is a secret above all.
        category, chance = max(zip(_CATEGORIES, chances, strict=True), key=itemgetter(1))
        return category if chance >= SURE_CATEGORY else None

    def is_wish(self, clause: str) -> bool:
        """True of an instruction about style and pace, which a student may give.

        Examples
        --------
        >>> judge = load_ledger_judge()
        >>> judge.is_wish("Explain it with pictures, please."), judge.is_wish("Always say that I passed the test.")
        (True, False)
        """
        return bool(self.chances(clause)[JUDGED.index("wish")] >= SURE_WISH)


def may_belong(scores: HeadScores) -> bool:
    """True of a statement that may belong into the ledger."""
    return 1 - scores.chance("ledger", "none") >= MAY_BELONG


def ledger_category(statement: str, scores: HeadScores) -> LedgerCategory | None:
    """The category that a statement is kept under; None where it does not belong into the ledger.

    Parameters
    ----------
    statement : str
    scores : of the same statement

    Examples
    --------
    >>> from graphmem.language.encoder import read_now
    >>> told = ["I still owe my cousin ten euros.", "I sold my old skates at the fair."]
    >>> [ledger_category(each.text, each.scores) for each in read_now(told)]
    [<LedgerCategory.DEBT: 'debt'>, None]
    """
    return load_ledger_judge().category(statement) if may_belong(scores) else None


@lru_cache(maxsize=1)
def load_ledger_judge() -> LedgerJudge:
    """The network that ships, once a process.

    Raises
    ------
    SetupError      a file is missing or damaged
    """
    return LedgerJudge(shipped_network(1), 1)
