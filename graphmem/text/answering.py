"""Whether a remembered statement answers a question: by its meaning, its words, and a small network that reads both.

`scripts/make_answering.py` makes them; figures lie beside the weights.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmem.text.doc import Doc
from graphmem.text.pair_network import load_pair_network
from graphmem.text.query_parser import ASKING_STEMS
from graphmem.text.trained import opened_weights

ANSWERING_FOLDER = Path(__file__).with_name("weights") / "answering"
JUDGE_FILE = "judge.npz"
ANSWERS, NEAREST = -0.3, -1.2
"""Fitness from which on a statement is taken for an answer, and from which on it comes near; chosen on questions that
were held out."""
BEST = 2
"""Statements of a question by which each is measured: what stands out among them answers sooner."""


def answer_fitness(
    question: str, statements: Sequence[str], cosines: Sequence[float], folder: Path = ANSWERING_FOLDER
) -> list[float]:
    """How well each of the statements that come nearest to a question answers it.

    Parameters
    ----------
    question : str
    statements : sequence of str
    cosines : of each statement with the question, in [-1, 1]
    folder : of the network and of what judges by it

    Returns
    -------
    list of float, log odds: the embedder finds what a question is about, the network whether it is told

    Raises
    ------
    SetupError      a file is missing or damaged

    Examples
    --------
    >>> told = ["The student has a cat called Duma.", "The student plays chess on Fridays."]
    >>> cat, chess = answer_fitness("What's my cat called?", told, [0.6, 0.2])
    >>> cat > ANSWERS > chess
    True
    """
    if not statements:
        return []
    network = load_pair_network(folder)
    logits = [network.logit(question, statement) for statement in statements]
    weights, bias = _judge(folder)
    fitness: list[float] = (answer_features(question, statements, cosines, logits) @ weights + bias).tolist()
    return fitness


def answer_features(
    question: str, statements: Sequence[str], cosines: Sequence[float], logits: Sequence[float]
) -> NDArray[np.float64]:
    """What the fitness of statements rests on, one row each: likeness, what the network says, and words in common.

    Parameters
    ----------
    question, statements, cosines : as of `answer_fitness`
    logits : log odds of the network
    """
    asked = Doc(question).stems - ASKING_STEMS
    shares = [len(asked & Doc(each).stems) / max(1, len(asked)) for each in statements]
    near, told = np.array(cosines, dtype=np.float64), np.array(logits, dtype=np.float64)
    lengths = np.array([len(each) / 100 for each in statements])
    columns = (near, told, np.maximum(0.0, told), shares, near - _best(near), told - _best(told), lengths)
    return np.column_stack([*columns, np.full(len(near), float(len(asked)))])


def _best(values: NDArray[np.float64]) -> float:
    return float(np.sort(values)[-BEST:].mean())


@cache
def _judge(folder: Path) -> tuple[NDArray[np.float64], float]:
    with opened_weights(folder / JUDGE_FILE) as file:
        weights: Any = file["weights"]
        return np.asarray(weights, dtype=np.float64), float(file["bias"])
