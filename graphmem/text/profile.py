"""Two linear heads on an embedding: what belongs into a student's standing profile, and what asks for memories.

Made by `scripts/make_profile.py`; the figures lie beside the weights in `figures.json`. They read vectors of the
shipped model only.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

import numpy as np

from graphmem.model import AskedFor, Matrix, Vector
from graphmem.text.trained import LinearHead, opened_weights, read_head

PROFILE_FILE = Path(__file__).with_name("weights") / "profile" / "profile.npz"
LAST_SESSION = "last session"
"""Reason of what is recalled since the student asks for last time."""


class ProfilePart(StrEnum):
    """Part of the standing profile that a statement belongs to."""

    NONE = "none"
    NEED = "need"
    IDENTITY = "identity"
    GOAL = "goal"


@dataclass(frozen=True)
class ProfileModel:
    """The two heads; `load_profile_model` gives them."""

    statement: LinearHead
    question: LinearHead

    def of_statements(self, vectors: Matrix) -> list[tuple[ProfilePart, float]]:
        """The part of the profile each statement belongs to, with its chance.

        Examples
        --------
        >>> load_profile_model().of_statements(np.zeros((0, 384), dtype=np.float32))
        []
        """
        return [(ProfilePart(label), chance) for label, chance in _best(self.statement, vectors)]

    def of_question(self, vector: Vector) -> tuple[AskedFor, float]:
        """The subject of a question, with its chance."""
        ((label, chance),) = _best(self.question, vector[np.newaxis])
        return AskedFor(label), chance


@lru_cache(maxsize=1)
def load_profile_model(path: Path = PROFILE_FILE) -> ProfileModel:
    """Read the weights, once a process.

    Raises
    ------
    SetupError      the file is missing or damaged
    """
    with opened_weights(path) as file:
        return ProfileModel(*(read_head(file, name) for name in ("statement", "question")))


def _best(head: LinearHead, vectors: Matrix) -> list[tuple[str, float]]:
    if not len(vectors):
        return []
    chances = head.chances(vectors)
    return [(head.labels[place], float(row[place])) for row, place in zip(chances, chances.argmax(axis=1), strict=True)]
