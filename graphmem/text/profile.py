"""Linear heads on an embedding: what belongs into a student's standing profile, and what asks for memories.

Made by `scripts/train/profile.py`; the figures lie beside the weights in `figures.json`. They read vectors of the
shipped model only.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphmem.language.encoder import read_now
from graphmem.model import SHOWN_AT_WORK, AskedFor, Matrix, Memory, Modality, Vector
from graphmem.text.doc import Doc, asks_what_was_told
from graphmem.text.lexicon import FIRST_PERSON, SECOND_PERSON
from graphmem.text.networks import LinearHead, opened_weights, read_head

PROFILE_FILE = Path(__file__).with_name("weights") / "profile" / "profile.npz"
LAST_SESSION = "last session"
"""Reason of what is recalled since the student asks for last time."""
SINCE, SUCCEEDS = "since", "now, not"
"""Reasons, before an id, of a statement made later on the subject of that memory, and of what took its place."""
ASKED_AS_WHOLE = "asked for"
"""Reason of what a question for a whole brings: all that is remembered, what is hard, what the student can do."""


MEMORY = "memory"
"""Label of what asks for memories."""
_PART_MARKS = tuple(
    map(
        re.compile,
        (
            r"\?",
            r"\bremind (?:me|us)\b",
            r"\b(?:what|which|who|whose|when|where|how)\b",
            r"^\W*(?:what|which|who|whose|when|where|how|is|are|am|do|does|did)\b",
            r"\bremember\b",
            r"\b(?:ask(?:s|ed|ing)?|wants? to know|need to know|know)\b",
            r"\b(?:again|forgot|forget|before|first)\b",
        ),
    )
)
"""Words that questions for memories have more often than others; how much each counts is learned."""


_THIRD_PERSON = frozenset({"he", "she", "him", "her", "his", "hers", "they", "them", "their", "student"})
"""Words for somebody who does not take part: whom a teacher asks about."""


class ProfilePart(StrEnum):
    """Part of the standing profile that a statement belongs to."""

    NONE = "none"
    NEED = "need"
    IDENTITY = "identity"
    GOAL = "goal"


SURE_PART = {ProfilePart.NEED: 0.6, ProfilePart.IDENTITY: 0.7, ProfilePart.GOAL: 0.7}
"""Chance from which on a statement belongs into a part of the standing profile."""


@dataclass(frozen=True)
class ProfileModel:
    """The heads; `load_profile_model` gives them.

    statement : the part of the profile that a statement belongs to
    work : whether a statement tells what is hard for the student, or what the student can do
    question : what a question for memories is about
    asking : whether a message asks for memories; it reads marks of the message behind the vector of its question
    """

    statement: LinearHead
    work: LinearHead
    question: LinearHead
    asking: LinearHead

    def of_statements(self, vectors: Matrix) -> list[tuple[ProfilePart, float]]:
        """The part of the profile each statement belongs to, with its chance.

        Examples
        --------
        >>> load_profile_model().of_statements(np.zeros((0, 384), dtype=np.float32))
        []
        """
        return [(ProfilePart(label), chance) for label, chance in _best_parts(self.statement, vectors)]

    def of_work(self, vectors: Matrix) -> list[tuple[AskedFor, float]]:
        """Whether each statement tells what is hard (STRUGGLES), what can be done, or neither (OTHER), and its chance.

        Examples
        --------
        >>> load_profile_model().of_work(np.zeros((0, 384), dtype=np.float32))
        []
        """
        return [(AskedFor(label), chance) for label, chance in _best_parts(self.work, vectors)]

    def of_question(self, vector: Vector) -> tuple[AskedFor, float]:
        """The subject of a question, with its chance."""
        ((label, chance),) = _best_parts(self.question, vector[np.newaxis])
        return AskedFor(label), chance

    def asks_memory(self, message: Doc, vector: Vector) -> float:
        """The chance that a message asks for what was told.

        Parameters
        ----------
        message : Doc
        vector : of the question in it, or of the message where it holds none
        """
        chances = self.asking.chances(np.concatenate([vector, asking_marks(message)]))
        return float(chances[self.asking.labels.index(MEMORY)])


def asking_marks(message: Doc) -> NDArray[np.float32]:
    """Marks of a message that tell, beside its meaning, whether it asks for what was told.

    Examples
    --------
    >>> asking_marks(Doc("What did I tell you?"))[:3].tolist()
    [1.0, 0.0, 1.0]
    """
    plain, words = message.excerpt.plain, frozenset(message.excerpt.plain_words)
    spoken_of = [not words.isdisjoint(some) for some in (FIRST_PERSON, SECOND_PERSON, _THIRD_PERSON)]
    found = [mark.search(plain) is not None for mark in _PART_MARKS]
    return np.array([*found, message.asks, asks_what_was_told(plain), *spoken_of], dtype=np.float32)


@lru_cache(maxsize=1)
def load_profile_model(path: Path = PROFILE_FILE) -> ProfileModel:
    """Read the weights, once a process.

    Raises
    ------
    SetupError      the file is missing or damaged
    """
    with opened_weights(path) as file:
        return ProfileModel(*(read_head(file, name) for name in ("statement", "work", "question", "asking")))


def _best_parts(head: LinearHead, vectors: Matrix) -> list[tuple[str, float]]:
    if not len(vectors):
        return []
    chances = head.chances(vectors)
    return [(head.labels[place], float(row[place])) for row, place in zip(chances, chances.argmax(axis=1), strict=True)]


def standing_parts(found: Sequence[Memory], matrix: Matrix) -> dict[str, tuple[ProfilePart, float]]:
    """Return, by id, the memories that surely belong to a part of the standing profile, each with its chance.

    Embeddings find needs, the encoder knows them: of held-out ones both together find 51 %, 86 % of them rightly (an
    embedding alone, where it is sure, 43 % and 82 %); the bounds were chosen on them. What is shown at work and how
    somebody felt is none.
    """
    parts = dict(zip((memory.id for memory in found), load_profile_model().of_statements(matrix), strict=True))
    passing = (m for m in found if m.aspect in SHOWN_AT_WORK or m.modality is Modality.EMOTIONAL)
    parts |= {memory.id: (ProfilePart.NONE, 0.0) for memory in passing}
    needs = [memory for memory in found if parts[memory.id][0] is ProfilePart.NEED]
    for memory, read in zip(needs, read_now([memory.content or "" for memory in needs]), strict=True):
        parts[memory.id] = ProfilePart.NEED, read.scores.chance("part", ProfilePart.NEED)
    return {i: (part, chance) for i, (part, chance) in parts.items() if chance >= SURE_PART.get(part, 1.0)}
