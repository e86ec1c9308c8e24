"""What tells danger from what only sounds like it: a small network that reads the few messages that may be danger.

It has layers of its own above the words of the shipped embedder, which have learned nothing but danger since they began
as the embedder's. `scripts/make_danger.py` makes it; its figures stand beside it, in `danger.json`.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from graphmem.language.heads import MESSAGE
from graphmem.maths.chances import logistic, softmax
from graphmem.model import Vector
from graphmem.text.own_layers import OwnLayers

DANGER_FOLDER = Path(__file__).with_name("weights") / "danger"
CONCERNS = MESSAGE.heads["concern"].labels
"""Kinds of danger; the first is none."""
URGENCIES = 3


@dataclass(frozen=True)
class DangerReading:
    """What the network makes of a message.

    logit : log odds that it tells of danger
    kinds : shape (10,), chances of the kinds in `CONCERNS` but for the first, of a danger
    urgency : shape (3,), chances of 1 to 3, of a danger
    about_other : 0..1, chance that a danger is another's
    """

    logit: float
    kinds: Vector = field(repr=False)
    urgency: Vector = field(repr=False)
    about_other: float


class DangerNetwork:
    """Reads messages; may be used by several threads at once.

    Raises
    ------
    SetupError      a file is missing or damaged
    """

    def __init__(self, folder: Path = DANGER_FOLDER) -> None:
        self._layers = OwnLayers(folder)

    def read(self, text: str) -> DangerReading:
        """What the network makes of a message, of which the first 256 tokens count."""
        return read_danger(self._layers.answers(text))


def read_danger(answers: Vector) -> DangerReading:
    """The reading that the network's numbers stand for, of shape (15,).

    Examples
    --------
    >>> reading = read_danger(np.array([0, 2, *[-9] * 9, 0, 0, 5, 5], np.float32))
    >>> round(reading.logit, 1), int(reading.kinds.argmax()), int(reading.urgency.argmax())
    (2.0, 0, 2)
    """
    none, kinds, rest = answers[0], answers[1 : len(CONCERNS)], answers[len(CONCERNS) :]
    return DangerReading(
        float(np.logaddexp.reduce(kinds) - none), softmax(kinds), softmax(rest[:URGENCIES]), logistic(rest[-1])
    )


@lru_cache(maxsize=1)
def load_danger_network() -> DangerNetwork:
    """The network that ships, once a process.

    Raises
    ------
    SetupError      a file is missing or damaged
    """
    return DangerNetwork()
