"""Whether a remembered statement answers a question, as a small network sees it that reads both together.

`scripts/make_answering.py` makes it; its figures lie beside the weights.
"""

from collections.abc import Sequence
from pathlib import Path

from graphmem.text.pair_network import load_pair_network

ANSWERING_FOLDER = Path(__file__).with_name("weights") / "answering"
LOGIT_SHARE = 0.1
"""What a log odd of the network counts beside a cosine."""
ANSWERS, NEAREST = 0.3, 0.0
"""Fitness from which on a statement is taken for an answer, and from which on it comes near; chosen on students held
out."""


def answer_fitness(
    question: str, statements: Sequence[str], cosines: Sequence[float], folder: Path = ANSWERING_FOLDER
) -> list[float]:
    """How well each statement answers a question.

    Parameters
    ----------
    question : str
    statements : sequence of str
    cosines : of each statement with the question, in [-1, 1]
    folder : of the network

    Returns
    -------
    list of float, about -1 to 2: the embedder finds what a question is about, the network whether it is told

    Raises
    ------
    SetupError      a file of the network is missing or damaged

    Examples
    --------
    >>> told = ["The student has a cat called Duma.", "The student plays chess on Fridays."]
    >>> cat, chess = answer_fitness("What's my cat called?", told, [0.6, 0.2])
    >>> cat > ANSWERS > chess
    True
    """
    network = load_pair_network(folder)
    pairs = zip(statements, cosines, strict=True)
    return [cosine + LOGIT_SHARE * network.logit(question, statement) for statement, cosine in pairs]
