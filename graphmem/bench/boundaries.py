"""Episode segmentation against human topic boundaries (spec 5, Measured by).

`f1`, `pk` and `windowdiff` are of the form that background work uses, one turn later; the online form and TextTiling
stand beside it. F1 counts all talks together and only boundaries found exactly; Pk and WindowDiff are means over the
talks, each with a window of half its mean segment.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter

from graphmem.bench import Figures
from graphmem.bench.scores import above_mean, depths, exact, pk, windowdiff
from graphmem.bench.talks import UNDATED, parsed_rows
from graphmem.errors import InvalidInput
from graphmem.model import Author, Matrix, Message
from graphmem.progress import tracked
from graphmem.samples import SAMPLES
from graphmem.settings import Settings
from graphmem.text.embedder import EMBEDDER_THREADS, shipped_network
from graphmem.text.topic_boundaries import TopicBoundaryModel, load_topic_boundaries

SAMPLE = SAMPLES / "tiage" / "dialogues.jsonl"
DEEP_DEVIATIONS = 0.4
"""With which TextTiling has the highest F1 on the train part of TIAGE."""
TURN_GAP = timedelta(seconds=20)

Found = NDArray[np.bool_]


@dataclass(frozen=True)
class TopicTurn:
    """A turn of a talk; `shift` is 1 where people saw a new topic begin with it."""

    speaker: str
    text: str
    shift: Literal[0, 1]


@dataclass(frozen=True)
class Shifting:
    """A talk of several topics."""

    turns: Annotated[tuple[TopicTurn, ...], Field(min_length=1)]

    @property
    def texts(self) -> tuple[str, ...]:
        """What was said."""
        return tuple(turn.text for turn in self.turns)

    @property
    def shifts(self) -> tuple[int, ...]:
        """1 for each turn with which a new topic begins, else 0."""
        return tuple(turn.shift for turn in self.turns)


def measure_boundaries(_: Settings, file: Path | None) -> Figures:
    """Measure boundaries on a file of TIAGE, or on the sample that ships.

    Raises
    ------
    InvalidInput    another format, or no boundary anywhere
    """
    talks = read_segmented_talks(file or SAMPLE)
    if not any(map(any, (talk.shifts for talk in talks))):
        raise InvalidInput(f"There is no boundary in {file}: it cannot be measured.")
    encode, episodes = shipped_network(EMBEDDER_THREADS).encode, load_topic_boundaries()
    vectors = [encode(list(talk.texts)) for talk in tracked(talks, "Embedding")]
    messages = [talk_messages(*each) for each in zip(talks, vectors, strict=True)]
    gold = [talk.shifts for talk in talks]
    start = perf_counter()
    found = [_shifts(episodes, talk, ahead=True) for talk in tracked(messages, "Finding boundaries")]
    seconds, turns = perf_counter() - start, sum(len(talk.texts) for talk in talks)
    figures = _scores("", gold, found)
    figures |= _scores("online_", gold, [_shifts(episodes, talk, ahead=False) for talk in messages])
    figures |= _scores("texttiling_", gold, [above_mean(depths(v), DEEP_DEVIATIONS) for v in vectors])
    return figures | {
        "fires": sum(int(each.sum()) for each in found) / turns,
        "gold_fires": sum(map(sum, gold)) / turns,
        "ms_per_turn": 1000 * seconds / turns,
        "dialogues": len(talks),
        "turns": turns,
    }


def talk_messages(talk: Shifting, vectors: Matrix) -> list[Message]:
    """Return a talk as the service holds it, twenty seconds between messages; the first speaker is the student."""
    return [
        Message(
            author=Author.STUDENT if turn.speaker == talk.turns[0].speaker else Author.COMPANION,
            text=turn.text,
            at=UNDATED + i * TURN_GAP,
            embedding=vectors[i],
        )
        for i, turn in enumerate(talk.turns)
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
    parse = TypeAdapter(Shifting).validate_python
    return parsed_rows(path, parse, '"turns" of speaker, text and shift, as in TIAGE, are')


def _shifts(episodes: TopicBoundaryModel, talk: Sequence[Message], *, ahead: bool) -> Found:
    # A talk begins an episode, but no boundary lies before its first turn.
    starts = episodes.starts(talk, ahead=ahead)
    starts[:1] = False
    return starts


def _scores(prefix: str, gold: Sequence[Sequence[int]], found: Sequence[Found]) -> Figures:
    precision, recall, f1 = exact(gold, found)
    pairs = list(zip(gold, found, strict=True))
    return {
        f"{prefix}f1": f1,
        f"{prefix}precision": precision,
        f"{prefix}recall": recall,
        f"{prefix}pk": fmean(pk(g, f) for g, f in pairs),
        f"{prefix}windowdiff": fmean(windowdiff(g, f) for g, f in pairs),
    }
