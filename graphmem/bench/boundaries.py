"""Episode segmentation benchmark against human topic boundaries (spec 5, Measured by).

`f1`, `pk` and `windowdiff` are of the form that background work uses, one turn later; the online form and the simple
methods stand beside it. F1 counts all talks together and only boundaries found exactly; Pk and WindowDiff are means
over the talks, each with a window of half its mean segment.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmem.bench import Figures
from graphmem.bench.baselines import embedding
from graphmem.bench.datasets import read_rows
from graphmem.bench.segmentation_metrics import above_mean, above_threshold, depths, exact, pk, surprises, windowdiff
from graphmem.errors import InvalidInput
from graphmem.model import Author, Matrix, Message
from graphmem.samples import SAMPLES
from graphmem.settings import Settings
from graphmem.text.embedder import SHIPPED
from graphmem.text.topic_boundaries import TopicBoundaryModel, load_topic_boundaries

SAMPLE = SAMPLES / "tiage" / "dialogues.jsonl"
# Each baseline as it has the highest F1 on the train part of TIAGE; `scripts/make_boundaries.py` prints them.
LOOKING_BACK = 1
"""Turns that a turn surprises against."""
SURPRISED = 0.78
SURPRISED_DEVIATIONS = 0.45
DEEP_DEVIATIONS = 0.4
EM_LLM_DEVIATIONS = 2.0
"""Not tuned: the usual choice."""
FIRST = datetime(2024, 1, 8, 9, 0, tzinfo=UTC)
TURN_GAP = timedelta(seconds=20)

Found = NDArray[np.bool_]


@dataclass(frozen=True)
class Shifting:
    """A talk of several topics: who said what, and with which turns people saw a new topic begin."""

    speakers: tuple[str, ...]
    texts: tuple[str, ...]
    shifts: tuple[int, ...]


def measure_boundaries(settings: Settings, file: Path | None) -> Figures:
    """Boundaries on a file of TIAGE, or on the sample that ships.

    Raises
    ------
    InvalidInput    another format, or no boundary anywhere
    """
    talks = read_segmented_talks(file or SAMPLE)
    if not any(map(any, (talk.shifts for talk in talks))):
        raise InvalidInput(f"There is no boundary in {file}: it cannot be measured.")
    with embedding(settings) as embed:
        vectors = [embed(talk.texts) for talk in talks]
    return measured(talks, vectors, load_topic_boundaries(), shipped=settings.embedder == f"onnx:{SHIPPED}")


def measured(
    talks: Sequence[Shifting], vectors: Sequence[Matrix], episodes: TopicBoundaryModel, *, shipped: bool
) -> Figures:
    """The figures of talks with their embeddings; of another model than the shipped one the detector sees none."""
    full = [talk_messages(talk, v if shipped else None) for talk, v in zip(talks, vectors, strict=True)]
    words = [talk_messages(talk, None) for talk in talks]
    gold = [talk.shifts for talk in talks]
    start = perf_counter()
    found = [_shifts(episodes, talk, ahead=True) for talk in full]
    seconds = perf_counter() - start
    figures = _scores("", gold, found)
    figures |= _scores("online_", gold, [_shifts(episodes, talk, ahead=False) for talk in full])
    figures |= _scores("words_", gold, [_shifts(episodes, talk, ahead=True) for talk in words])
    for name, guess in GUESSES.items():
        figures |= _scores(f"{name}_", gold, [guess(v) for v in vectors])
    turns = sum(len(talk.texts) for talk in talks)
    return figures | {
        "fires": sum(int(each.sum()) for each in found) / turns,
        "gold_fires": sum(map(sum, gold)) / turns,
        "ms_per_turn": 1000 * seconds / turns,
        "dialogues": len(talks),
        "turns": turns,
    }


GUESSES: dict[str, Callable[[Matrix], Found]] = {
    "texttiling": lambda vectors: above_mean(depths(vectors), DEEP_DEVIATIONS),
    "surprise_fixed": lambda vectors: above_threshold(surprises(vectors, LOOKING_BACK), SURPRISED),
    "mean_sd": lambda vectors: above_mean(surprises(vectors, LOOKING_BACK), SURPRISED_DEVIATIONS),
    "mean_2sd": lambda vectors: above_mean(surprises(vectors, LOOKING_BACK), EM_LLM_DEVIATIONS),
    "none": lambda vectors: np.zeros(len(vectors), dtype=bool),
}


def talk_messages(talk: Shifting, vectors: Matrix | None) -> list[Message]:
    """A talk as the service holds it, twenty seconds between messages, whoever speaks first as the student."""
    return [
        Message(
            author=Author.STUDENT if speaker == talk.speakers[0] else Author.COMPANION,
            text=text,
            at=FIRST + i * TURN_GAP,
            embedding=None if vectors is None else vectors[i],
        )
        for i, (speaker, text) in enumerate(zip(talk.speakers, talk.texts, strict=True))
    ]


def read_segmented_talks(path: Path) -> list[Shifting]:
    """Read talks in the format of TIAGE: `turns`, a list of `{"speaker", "text", "shift": 0 or 1}`, one talk a line.

    Raises
    ------
    InvalidInput    a line is of another format; names file and line

    Source: Xie et al. 2021, TIAGE.

    Examples
    --------
    >>> talk = read_segmented_talks(SAMPLE)[0]
    >>> talk.texts[0], len(talk.shifts) == len(talk.texts)
    ('hello what are doing today ?', True)
    """
    return [_talk(where, row) for where, row in read_rows(path)]


def _talk(where: str, row: dict[str, Any]) -> Shifting:
    try:
        turns = [(str(turn["speaker"]), turn["text"], turn["shift"]) for turn in row["turns"]]
        if not turns:
            raise ValueError("a talk without turns")
        if not all(isinstance(text, str) and shift in (0, 1) for _, text, shift in turns):
            raise ValueError("a text that is none, or a shift that is neither 0 nor 1")
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f'{where}: "turns" must hold speaker, text and shift, as in TIAGE: {error!r}.') from error
    speakers, texts, shifts = zip(*turns, strict=True)
    return Shifting(speakers, texts, tuple(map(int, shifts)))


def _shifts(episodes: TopicBoundaryModel, talk: Sequence[Message], *, ahead: bool) -> Found:
    # A talk begins an episode, but no boundary lies before its first turn.
    starts = episodes.starts(talk, ahead=ahead)
    starts[:1] = False
    return starts


def _scores(prefix: str, gold: Sequence[Sequence[int]], found: Sequence[Found]) -> Figures:
    counted = exact(gold, found)
    pairs = list(zip(gold, found, strict=True))
    return {
        f"{prefix}f1": counted.f1,
        f"{prefix}precision": counted.precision,
        f"{prefix}recall": counted.recall,
        f"{prefix}pk": fmean(pk(g, f) for g, f in pairs),
        f"{prefix}windowdiff": fmean(windowdiff(g, f) for g, f in pairs),
    }
