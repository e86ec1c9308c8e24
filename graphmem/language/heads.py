"""The questions that the encoder answers about a message and each of its statements, and about its tokens (spec 7).

A row of `MESSAGE_HEADS` is a question; `scripts/train/sources.py` says which rows answer it.
"""

from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate

import numpy as np

from graphmem.maths.chances import logistic, softmax
from graphmem.model import Vector


class AnswerForm(StrEnum):
    """Form of a head's answer: one of several labels, a chance in [0, 1], or a number in [-1, 1]."""

    LABEL = "label"
    CHANCE = "chance"
    NUMBER = "number"


@dataclass(frozen=True)
class Head:
    """A question about a text.

    name : str
    labels : of the answers; a head with one label answers with a chance or a number
    answer : AnswerForm
    """

    name: str
    labels: tuple[str, ...]
    answer: AnswerForm = AnswerForm.LABEL


MESSAGE_HEADS = (
    Head("band", ("none", "one", "two", "three")),
    Head("kind", ("concept", "episode", "trait")),
    Head("modality", ("semantic", "episodic", "emotional", "procedural", "sensory")),
    Head("ledger", ("none", "promise", "secret", "debt", "threat", "fact", "observation", "wish", "order")),
    Head("lasting", ("moment", "days", "months", "good")),
    Head("about_self", ("about_self",), AnswerForm.CHANCE),
    Head("valence", ("valence",), AnswerForm.NUMBER),
    Head(
        "concern",
        (
            *("none", "self_harm", "abuse", "sexual_abuse", "violence", "threat_to_others", "neglect", "eating"),
            *("substance", "bullying", "other_danger"),
        ),
    ),
    Head("urgency", ("none", "worrying", "serious", "acute")),
    Head("about_other", ("about_other",), AnswerForm.CHANCE),
    Head("domain", ("school", "personal", "relationships", "hobbies", "health", "other")),
    Head("worth", ("nothing", "trait", "plan", "feeling", "episode", "work")),
    Head(
        "act",
        (
            *("own", "story", "opinion", "reaction", "companion", "ability", "request", "question", "work"),
            *("greeting", "goodbye", "thanks"),
        ),
    ),
    Head("asks", ("none", "memory", "task", "companion", "chat")),
    Head("asked", ("other", "own", "overview", "struggles", "strengths", "last_time")),
    Head("part", ("none", "need", "identity", "goal")),
    Head("work", ("none", "struggle", "strength")),
    Head("aspect", ("none", "plan", "feeling", "misconception", "understanding", "need")),
    Head("weight", ("nothing", "ordinary", "change", "grave")),
    Head("leans", ("leans",), AnswerForm.CHANCE),
)
"""The questions in the order of the encoder's output.

ledger : `wish` is an instruction about style and pace, `order` one that a student may not give
lasting : it holds for the moment, for days, for months, for good
concern, urgency, about_other : danger, how near it is, the chance that it is another's (spec 20)
worth : what a statement tells that a tutor may want to remember
act : what a turn of talk does
asks : what is wanted of the companion; asked : what a question for memories is about
part : of the standing profile; work : what is hard, what can be done
aspect : what a memory of it is good for
weight : how much is disclosed of the student's life or picture of themselves (spec 5)
leans : it cannot be understood without what was said before
"""

SHOWN = ("nothing", "misconception", "understanding")
"""What a turn of work on a task shows, by its words and by what the tutor says to it."""
BORDERS = ("outside", "begin", "inside")
"""Labels of a token: between statements, the first of one, another of one."""
NAMES = ("none", "person", "place", "thing", "pet", "school")
"""Labels of a token: the kind of name that it belongs to."""
TOKEN_MARKS = 5
"""Marks of letters that the token heads see beside the tower: the tokenizer drops capitals and white space."""


class HeadTable:
    """Where the numbers of each head stand in the output of a network.

    Attributes
    ----------
    heads : by name
    places : slice of the output by name
    width : numbers of the output
    """

    def __init__(self, heads: tuple[Head, ...]) -> None:
        ends = list(accumulate(len(head.labels) for head in heads))
        self.heads = {head.name: head for head in heads}
        self.places = {head.name: slice(end - len(head.labels), end) for head, end in zip(heads, ends, strict=True)}
        self.width = ends[-1]


MESSAGE = HeadTable(MESSAGE_HEADS)
TOKEN_WIDTH = len(BORDERS) + len(NAMES)


@dataclass(frozen=True, eq=False)
class HeadScores:
    """Answers of all heads to a text.

    logits : float32 of shape (MESSAGE.width,), calibrated: divided by the temperature of their head

    Examples
    --------
    >>> logits = np.zeros(MESSAGE.width, dtype=np.float32)
    >>> logits[MESSAGE.places["act"].start + 1] = 3.0
    >>> scores = HeadScores(logits)
    >>> scores.likely("act"), round(scores.chance("act", "story"), 2), scores.number("valence")
    ('story', 0.65, 0.0)
    """

    logits: Vector

    def chances(self, head: str) -> Vector:
        """Chances of the labels of a head, float32 with sum 1, or of one chance shape (1,).

        Raises
        ------
        KeyError        there is no head of this name
        """
        own = self.logits[MESSAGE.places[head]]
        return softmax(own) if MESSAGE.heads[head].answer is AnswerForm.LABEL else logistic(own)

    def likely(self, head: str) -> str:
        """The likeliest label of a head."""
        return MESSAGE.heads[head].labels[int(self.logits[MESSAGE.places[head]].argmax())]

    def chance(self, head: str, label: str | None = None) -> float:
        """The chance in [0, 1] of a label; without one, of a head that has only one."""
        return float(self.chances(head)[0 if label is None else MESSAGE.heads[head].labels.index(label)])

    def number(self, head: str) -> float:
        """The number in [-1, 1] that a head tells."""
        return float(np.tanh(self.logits[MESSAGE.places[head]][0]))

    def expected(self, head: str) -> float:
        """The mean of an ordered head: its labels count 0, 1, 2, ..."""
        chances = self.chances(head)
        return float(chances @ np.arange(len(chances), dtype=np.float32))
