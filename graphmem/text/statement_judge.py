"""Whether a statement about a student is worth a place in memory, as it stands: a small network judges it (spec 7, 13).

It has layers of its own above the words of the shipped embedder, which began as the embedder's lower and the reader's
upper ones and have since learned from statements that were judged one by one. `scripts/make_statement_judge.py` makes
it; its figures stand beside it.
"""

import re
from functools import lru_cache
from pathlib import Path

from graphmem.maths.chances import softmax
from graphmem.model import Vector
from graphmem.text.own_layers import OwnLayers

JUDGE_FOLDER = Path(__file__).with_name("weights") / "statements"
VERDICTS = ("good", "trivial", "pointing", "wrong")
"""What a statement may be: worth its place; plain but of no interest in a month; of something that it does not name;
other than what was meant, or garbled."""
SUBJECT = "Sam"
"""The name that the network knows everybody by, so that a name tells it nothing."""


class StatementJudge:
    """Judges statements; may be used by several threads at once.

    Raises
    ------
    SetupError      a file is missing or damaged
    """

    def __init__(self, folder: Path = JUDGE_FOLDER) -> None:
        self._layers = OwnLayers(folder)

    def chances(self, statement: str, subject: str) -> Vector:
        """Chances of `VERDICTS`, shape (4,), of a statement of which the first 256 tokens count.

        Parameters
        ----------
        statement : about somebody, in the third person
        subject : how it names whom it speaks of

        Examples
        --------
        >>> judge = load_statement_judge()
        >>> told = ("Mia has a brother called Ole who plays chess.", "Mia bought one of these for them.")
        >>> [VERDICTS[int(judge.chances(each, "Mia").argmax())] for each in told]
        ['good', 'pointing']
        """
        return softmax(self._layers.answers(of_nobody(statement, subject)))

    def worth(self, statement: str, subject: str) -> float:
        """0..1, the chance that a statement is worth its place in memory."""
        return float(self.chances(statement, subject)[0])


def of_nobody(statement: str, subject: str) -> str:
    """A statement that names whom it speaks of by the one name that the network knows.

    Examples
    --------
    >>> of_nobody("The student's cat likes The student.", "The student")
    "Sam's cat likes Sam."
    """
    return re.sub(rf"\b{re.escape(subject)}\b", SUBJECT, statement)


@lru_cache(maxsize=1)
def load_statement_judge() -> StatementJudge:
    """The network that ships, once a process.

    Raises
    ------
    SetupError      a file is missing or damaged
    """
    return StatementJudge()
