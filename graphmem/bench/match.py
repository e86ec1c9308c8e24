"""Match: does the chance given to a prediction tell whether it came true? (spec 4, Measured by).

`auroc` and `accuracy` (at 0.6) set rows that came true (`same` 2) against rows that did not (0); the half-true ones
count in the calibration only. Natural rows are predictions from the talk and the student's previous message, neither
made to deceive. `parrot_matched` is the share called matched of predictions that repeat the student's previous message,
before the messages of MathDial; `random_matched` of predictions that are a message of another row.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter
from rapidfuzz import fuzz, utils

from graphmem.bench import Figures
from graphmem.bench.scores import auroc
from graphmem.bench.talks import parsed_rows, untouched
from graphmem.errors import InvalidInput
from graphmem.progress import tracked
from graphmem.samples import SAMPLES
from graphmem.settings import Settings
from graphmem.text.affect import load_affect
from graphmem.text.doc import Doc
from graphmem.text.embedder import EMBEDDER_THREADS, shipped_network
from graphmem.text.matching import MATCH_FOLDER, MATCHED, load_match
from graphmem.text.pairs import Compared

MATCH_SAMPLE = SAMPLES / "match" / "match.jsonl"
NATURAL = ("pred", "prev")
"""Beginnings of the ids of rows that nobody made to deceive."""
BINS = 10
"""Bins of the calibration error."""


@dataclass(frozen=True)
class PredictedPair:
    """A predicted and an actual student message, the message before, and how true the prediction came (0, 1, 2)."""

    id: str
    source: str
    before: str
    predicted: str
    actual: str
    same: Literal[0, 1, 2]
    previous: str = ""

    @property
    def group(self) -> str:
        """What rows are kept together by: their dialogue, or of written rows the message before."""
        return self.before if self.source == "written" else self.source

    @property
    def texts(self) -> tuple[str, str, str]:
        """The three messages."""
        return self.before, self.predicted, self.actual

    @property
    def natural(self) -> bool:
        """True if the prediction was made from the talk, not from the actual message."""
        return self.id.startswith(NATURAL)


def measure_match(_: Settings, file: Path | None) -> Figures:
    """Return figures of the match model on the rows of a file that it was not trained on.

    Raises
    ------
    InvalidInput    another format, or no row of each kind is left
    """
    pairs = untouched(read_pairs(file or MATCH_SAMPLE), lambda pair: pair.texts, MATCH_FOLDER / "trained.npy")
    if not {0, 2} <= {pair.same for pair in pairs}:
        raise InvalidInput(f"{file}: rows that came true and rows that did not are needed, none of them trained on.")
    model, compared = load_match(), text_comparer()

    def chance(*texts: str) -> float:
        return model.chance(*map(compared, texts))

    return match_figures(pairs, [chance(*pair.texts) for pair in tracked(pairs, "Matching")]) | _guesses(pairs, chance)


def text_comparer() -> Callable[[str], Compared]:
    """Return a function that makes a text ready to be compared, each text once."""
    encode, affect = shipped_network(EMBEDDER_THREADS).encode, load_affect()

    @cache
    def compared(text: str) -> Compared:
        doc, vector = Doc(text), encode([text])[0]
        return Compared(doc, vector, affect.valence(doc, vector))

    return compared


def match_figures(pairs: Sequence[PredictedPair], chances: Sequence[float]) -> Figures:
    """Accuracy, AUROC and calibration of chances, and AUROC of the fuzzy ratio, on all rows and on natural ones."""
    natural = [i for i, pair in enumerate(pairs) if pair.natural]
    figures = _judged("", pairs, chances)
    if len({pairs[i].same for i in natural} & {0, 2}) > 1:
        figures |= _judged("natural_", [pairs[i] for i in natural], [chances[i] for i in natural])
    return figures | {"rows": len(pairs), "natural_rows": len(natural)}


def fuzzy_match(predicted: str, actual: str) -> float:
    """Return the fuzzy ratio of two messages in [0, 1], without case and punctuation."""
    return fuzz.ratio(predicted, actual, processor=utils.default_process) / 100


def _judged(prefix: str, pairs: Sequence[PredictedPair], chances: Sequence[float]) -> Figures:
    clear = [(pair, chance) for pair, chance in zip(pairs, chances, strict=True) if pair.same != 1]
    truth, same, given = [p.same == 2 for p, _ in clear], np.array([p.same / 2 for p in pairs]), np.array(chances)
    figures = {
        "accuracy": fmean((chance >= MATCHED) == true for (_, chance), true in zip(clear, truth, strict=True)),
        "auroc": auroc([chance for _, chance in clear], truth),
        "fuzzy_auroc": auroc([fuzzy_match(pair.predicted, pair.actual) for pair, _ in clear], truth),
        "brier": float(np.mean((given - same) ** 2)),
        "ece": _calibration_error(given, same),
    }
    return {f"{prefix}{name}": value for name, value in figures.items()}


def _calibration_error(given: NDArray[np.float64], same: NDArray[np.float64]) -> float:
    places = np.minimum((given * BINS).astype(int), BINS - 1)
    parts = [places == place for place in range(BINS)]
    return float(sum(part.mean() * abs(given[part].mean() - same[part].mean()) for part in parts if part.any()))


def _guesses(pairs: Sequence[PredictedPair], chance: Callable[..., float]) -> Figures:
    """Shares of predictions called matched that know nothing, before the messages of MathDial."""
    said = list({(p.before, p.actual): p for p in pairs if p.source.startswith("mathdial") and p.previous}.values())
    if len(said) < 2:
        return {}
    guesses = {"parrot": [p.previous for p in said], "random": [p.actual for p in (*said[1:], said[0])]}
    return {
        f"{name}_matched": fmean(chance(p.before, g, p.actual) >= MATCHED for p, g in zip(said, guessed, strict=True))
        for name, guessed in guesses.items()
    }


def read_pairs(path: Path) -> list[PredictedPair]:
    """Read pairs of a predicted and an actual message, one a line.

    Raises
    ------
    InvalidInput    a line is of another format; names file and line
    """
    return parsed_rows(path, TypeAdapter(PredictedPair).validate_python, "before, predicted, actual and same are")
