"""The matter of school that a task practises, such as fractions: learned from labelled tasks (spec 7).

What a task tells a story of says little about it, so its words count beside its vector. Made by
`scripts/make_matters.py`; its figures stand beside the weights.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphmem.model import Vector
from graphmem.text.embedder import shipped_network
from graphmem.text.operations import lesson_title
from graphmem.text.trained import LinearHead, opened_weights, read_head

MATTERS_FOLDER = Path(__file__).with_name("weights") / "matters"
MATTERS_FILE = MATTERS_FOLDER / "matters.npz"
NO_MATTER = "other"
"""The label of tasks of which no matter is told."""
MATTER_FROM = 0.4
"""Chance from which a task is said to be about a matter."""
MATTER_CHARACTERS = 2_000
"""Characters of a task that are read; for its vector the first 256 tokens count."""

_KINDS_OF_NUMBER = (
    (re.compile(r"\d+\s*/\s*\d+"), " #fraction "),
    (re.compile(r"\d[\d,.]*\s*%"), " #percent "),
    (re.compile(r"[$€£]\s?\d[\d,.]*"), " #money "),
    (re.compile(r"\d[\d,.]*"), " #number "),
)
_TERM = re.compile(r"#?[a-z]+|[=+*×÷^]")


@dataclass(frozen=True)
class Matters:
    """Multinomial logistic regression on what a task is worded with, and on its vector.

    terms : place of each word and pair of neighbouring words among the features
    rarity : of the terms, which their counts are weighted by
    """

    head: LinearHead
    terms: dict[str, int] = field(repr=False)
    rarity: Vector = field(repr=False)

    def features(self, task: str, vector: Vector) -> Vector:
        """The vector of a task, then the weights of its terms, of length 1 together unless there are none."""
        weights = np.zeros(len(self.rarity), dtype=np.float32)
        for term, count in Counter(task_terms(task)).items():
            if (place := self.terms.get(term)) is not None:
                weights[place] = (1 + np.log(count)) * self.rarity[place]
        length = float(np.linalg.norm(weights))
        return np.concatenate([vector, weights / length if length else weights])

    def chances(self, task: str) -> NDArray[np.float32]:
        """Chances of the matters that `head.labels` names."""
        return self.head.chances(self.features(task, shipped_network(1).encode([task])[0]))


def task_terms(task: str) -> list[str]:
    """The words of a task and the pairs of neighbours among them, each number by its kind alone.

    Examples
    --------
    >>> task_terms("She ate 2/6 of 12 pies")[:5]
    ['she', 'ate', '#fraction', 'of', '#number']
    """
    text = task.lower()
    for kind, name in _KINDS_OF_NUMBER:
        text = kind.sub(name, text)
    words = _TERM.findall(text)
    return [*words, *(f"{one} {other}" for one, other in pairwise(words))]


@lru_cache(maxsize=256)
def subject_matter(task: str) -> str:
    """The matter of school that a task practises: the title of a lesson, or one of those it was learned from.

    Returns
    -------
    str, such as "fractions"; empty where none is likely enough

    Examples
    --------
    >>> subject_matter("Ben ate 2/6 of a pie and Mia 1/3 of the rest. What part is left?")
    'fractions'
    >>> subject_matter("5.2A.Decimal Numbers"), subject_matter("")
    ('Decimal Numbers', '')
    """
    if not task.strip():
        return ""
    if title := lesson_title(task):
        return title
    matters = load_matters()
    chances = matters.chances(task[:MATTER_CHARACTERS])
    best = int(chances.argmax())
    label = matters.head.labels[best]
    return label if chances[best] >= MATTER_FROM and label != NO_MATTER else ""


@lru_cache(maxsize=1)
def load_matters(path: Path = MATTERS_FILE) -> Matters:
    """Read the weights, once a process.

    Raises
    ------
    SetupError      the file is missing or damaged
    """
    with opened_weights(path) as file:
        places = {str(term): place for place, term in enumerate(file["terms"])}
        return Matters(read_head(file, "matter"), places, file["rarity"].astype(np.float32))
