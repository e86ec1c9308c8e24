"""Networks that tell danger from what only sounds like it; they read the few messages that may be danger.

One reads English: layers that began as the shipped embedder's and have learned nothing but danger since. The other
reads other languages: words and lower layers of multilingual-e5-small, above which only the head has learned.
`scripts.train` makes both (`danger`, `danger_languages`); their figures stand in `danger.json`.
"""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from graphmem.language.heads import MESSAGE
from graphmem.maths.chances import logistic, softmax
from graphmem.model import Vector
from graphmem.text.own_layers import OwnLayers

ENGLISH_FOLDER = Path(__file__).with_name("weights") / "danger"
LANGUAGES_FOLDER = ENGLISH_FOLDER.with_name("danger_languages")
CONCERNS = MESSAGE.heads["concern"].labels
"""Kinds of danger; the first is none."""
URGENCIES = 3


@dataclass(frozen=True)
class DangerReading:
    """What a network makes of a message.

    logit : log odds that it tells of danger
    kinds : shape (10,), chances of the kinds in `CONCERNS` but for the first, of a danger
    urgency : shape (3,), chances of 1 to 3, of a danger
    about_other : 0..1, chance that a danger is another's
    """

    logit: float
    kinds: Vector = field(repr=False)
    urgency: Vector = field(repr=False)
    about_other: float


def read_danger(text: str, folder: Path = ENGLISH_FOLDER) -> DangerReading:
    """Read a message, of which the first 256 tokens count, by the network of a folder; on this thread.

    Raises
    ------
    SetupError      a file is missing or damaged

    Examples
    --------
    >>> reading = read_danger("My dad hits me every night.")
    >>> reading.logit > 0, CONCERNS[1 + reading.kinds.argmax()]
    (True, 'abuse')
    """
    answers = _layers(folder).answers(text)
    none, kinds, rest = answers[0], answers[1 : len(CONCERNS)], answers[len(CONCERNS) :]
    return DangerReading(
        float(np.logaddexp.reduce(kinds) - none), softmax(kinds), softmax(rest[:URGENCIES]), logistic(rest[-1])
    )


@cache
def _layers(folder: Path) -> OwnLayers:
    return OwnLayers(folder)
