"""Whether a remembered statement answers a question: a small network that reads both together.

It reads on from the lower layers of the shipped embedder. `scripts/make_answering.py` makes it; its figures lie beside
the weights.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from graphmem.text.embedder import ShippedNetwork, open_network, shipped_network

ANSWERING_FOLDER = Path(__file__).with_name("weights") / "answering"
LOGIT_SHARE = 0.05
"""What a log odd of the network counts beside a cosine."""
ANSWERS, NEAREST = 0.45, 0.1
"""Fitness from which on a statement is taken for an answer, and from which on it comes near; chosen on students held
out."""


class AnswerNetwork:
    """Reads questions with statements; may be used by several threads at once.

    Raises
    ------
    SetupError      a file is missing or damaged
    """

    def __init__(self, network: ShippedNetwork, threads: int, folder: Path = ANSWERING_FOLDER) -> None:
        self._network = network
        self._session: Any = open_network(folder, threads)

    def fitness(self, question: str, statements: Sequence[str], cosines: Sequence[float]) -> list[float]:
        """How well each statement answers a question.

        Parameters
        ----------
        question : str
        statements : sequence of str
        cosines : of each statement with the question, in [-1, 1]

        Returns
        -------
        list of float, about -1 to 1.5: the embedder finds what a question is about, the network whether it is told
        """
        pairs = zip(statements, cosines, strict=True)
        return [cosine + LOGIT_SHARE * self._logit(question, statement) for statement, cosine in pairs]

    def _logit(self, question: str, statement: str) -> float:
        hidden, _ = self._network.seen_pair(question, statement)
        return float(self._session.run(None, {"hidden": hidden})[0][0, 0])


@lru_cache(maxsize=1)
def load_answer_network() -> AnswerNetwork:
    """The network that ships, once a process.

    Raises
    ------
    SetupError      a file is missing or damaged

    Examples
    --------
    >>> told = ["The student has a cat called Duma.", "The student plays chess on Fridays."]
    >>> cat, chess = load_answer_network().fitness("What's my cat called?", told, [0.6, 0.2])
    >>> cat > ANSWERS > chess
    True
    """
    return AnswerNetwork(shipped_network(1), 1)
