"""Surprise: life events inserted into real tutoring talk, against its ordinary turns (spec 5).

Each event takes the place of one student message; before it stands the real talk. The prediction of a message is the
student's message before it, as the offline mind's mostly are; pauses, which recordings do not have, are drawn about 40
seconds. `auroc` is of the signal, the shares are of turns that reach cognitive dissonance or paradigm shift.

`boundaries` sets episodes against human topic boundaries. `f1`, `pk` and `windowdiff` are of the form that background
work uses, one turn later; the online form and TextTiling stand beside it. F1 counts all talks together and only
boundaries found exactly; Pk and WindowDiff are means over the talks, each with a window of half its mean segment.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmem.bench import Figures
from graphmem.bench.scores import above_mean, auroc, depths, exact, pk, windowdiff
from graphmem.bench.talks import UNDATED, parsed_rows, untouched
from graphmem.errors import InvalidInput
from graphmem.flows import findings
from graphmem.language.analysis import MessageAnalysis, work_chance
from graphmem.language.encoder import ENCODER_FOLDER, read_now
from graphmem.maths.importance import distance
from graphmem.model import NO_NAME, Author, Companion, Level, Message, Prediction, State
from graphmem.progress import tracked
from graphmem.samples import SAMPLES
from graphmem.samples.dialogues import SPEAKERS
from graphmem.settings import Settings
from graphmem.text.affect import load_affect
from graphmem.text.doc import Doc
from graphmem.text.embedder import EMBEDDER_THREADS, shipped_network
from graphmem.text.matching import load_match
from graphmem.text.safety import DANGER_FILE, find_danger
from graphmem.text.topic_boundaries import TopicBoundaryModel, load_topic_boundaries

SURPRISE_SAMPLE = SAMPLES / "surprise" / "surprise.jsonl"
A_PAUSE, PAUSES_VARY = 40.0, 0.5
"""Seconds between a student's messages, and the standard deviation of their logarithm."""
PLACES = 3
"""Places at which each event is inserted."""
REFERENCE_FILE = SAMPLES / "surprise" / "reference.npy"
"""Hashes of the talks that the reference was made of."""
GRAVE_BAND = "three"
NOBODY = State(version=0, turns=0, facts=0, companion=Companion(NO_NAME, "", 0.5), prediction=None)
"""A student of whom nothing is known."""

TalkTurn = tuple[Author, str]


SAMPLE = SAMPLES / "tiage" / "dialogues.jsonl"
DEEP_DEVIATIONS = 0.4
"""With which TextTiling has the highest F1 on the train part of TIAGE."""
TURN_GAP = timedelta(seconds=20)
SegmentedTalk = tuple[list[Message], list[int]]
"""A talk as the service holds it, and 1 for each turn with which people saw a new topic begin, else 0."""
Found = NDArray[np.bool_]


ScoredTurn = tuple[findings.Score, findings.Sensed, float | None]
"""A student's message of a talk: its score, the models' outputs, and its distance from the talk before."""


def measure_surprise(_: Settings, file: Path | None) -> Figures:
    """Return figures of the surprise of life events in ordinary talk.

    Parameters
    ----------
    file : Path     JSON lines: talks (`turns`, as `graphmem replay` takes them) and events (`text`; where rows are
        labelled by `band` or `urgency` only the grave ones); what is not there is taken from the sample that ships

    Raises
    ------
    InvalidInput    another format
    """
    given, sample = read_surprise(file or SURPRISE_SAMPLE), read_surprise(SURPRISE_SAMPLE)
    talks, events = given[0] or sample[0], given[1] or sample[1]
    return surprise_figures(talks, events, findings.Senses(load_affect(), load_match(), shipped=True))


def surprise_figures(talks: Sequence[Sequence[TalkTurn]], events: Sequence[str], senses: findings.Senses) -> Figures:
    """Return figures of events inserted into talks."""
    numbered = tracked(enumerate(talks), "Ordinary talk")
    ordinary = [own for i, talk in numbered for own, *_ in scored_turns(talk, senses, seed=i)]
    told = [
        list(scored_turns(talk, senses, seed=i))[-1][0]
        for i, talk in tracked(enumerate(told_in(talks, events, random.Random(0))), "Events")
    ]
    shaken = (Level.COGNITIVE_DISSONANCE, Level.PARADIGM_SHIFT)
    signals = [each.surprise for each in (*told, *ordinary)]
    return {
        "auroc": auroc(signals, [True] * len(told) + [False] * len(ordinary)),
        "events_dissonance": fmean(each.level in shaken for each in told),
        "events_shift": fmean(each.level is Level.PARADIGM_SHIFT for each in told),
        "ordinary_boundary": fmean(each.level is not Level.NORMAL for each in ordinary),
        "ordinary_dissonance": fmean(each.level in shaken for each in ordinary),
        "ordinary_shift": fmean(each.level is Level.PARADIGM_SHIFT for each in ordinary),
        "ordinary_turns": len(ordinary),
        "events": len(told),
    }


def told_in(
    talks: Sequence[Sequence[TalkTurn]], events: Sequence[str], chance: random.Random
) -> Iterator[tuple[TalkTurn, ...]]:
    """Talks that end with an event, which stands where the student went on with the lesson."""
    able = [(talk, places) for talk in talks if (places := _places(talk)[1:])]
    if not able:
        raise InvalidInput("Talks in which a student says two things are needed.")
    for event in events:
        for _ in range(PLACES):
            talk, places = chance.choice(able)
            yield (*talk[: chance.choice(places)], (Author.STUDENT, event))


def scored_turns(talk: Sequence[TalkTurn], senses: findings.Senses, seed: int) -> Iterator[ScoredTurn]:
    """The student's messages of a talk, each scored as a turn would score it."""
    chance, known, sums = random.Random(seed), list[Message](), list[float]()
    at, expected = UNDATED, None
    for author, text in talk:
        if author is Author.STUDENT:
            at += timedelta(seconds=A_PAUSE * chance.lognormvariate(0.0, PAUSES_VARY))
        reading = _reading_of(text)
        message = Message(author, text, at, reading.vector, Doc(text))
        if author is Author.STUDENT:
            sensed = senses.of(message, reading, known[-1] if known else None, expected)
            scored = findings.score(
                message, known[-findings.SURPRISE_WINDOW :], replace(NOBODY, signals=tuple(sums)), sensed
            )
            works = not reading.passes or work_chance(reading.scores) >= findings.SURELY_WORK
            scored = findings.levelled(scored, None if works else reading.scores, findings.FIRST_SHIFT, shaken=False)
            in_danger = find_danger(text) is not None
            before = [each.embedding for each in known[-findings.SURPRISE_WINDOW :] if each.embedding is not None]
            away = distance(np.array(before), reading.vector) if before else None
            yield findings.grave(scored) if in_danger else scored, sensed, away
            sums.append(scored.surprising)
            expected = Prediction(text, (), message.embedding)
        known.append(message)


def read_surprise(path: Path) -> tuple[list[tuple[TalkTurn, ...]], list[str]]:
    """Read talks, as lists of who said what, and life events, each once and none that anything was made of.

    Raises
    ------
    InvalidInput    a line is neither talk nor event; names file and line
    """
    rows = dict.fromkeys(parsed_rows(path, _talk_or_event, "`turns` of speaker and text, or a `text`, are"))
    talks = [row for row in rows if isinstance(row, tuple) and _places(row)]
    events, folders = [row for row in rows if isinstance(row, str)], (DANGER_FILE.parent, ENCODER_FOLDER)
    return (
        untouched(talks, lambda talk: tuple(text for _, text in talk), REFERENCE_FILE),
        untouched(events, lambda event: (event,), *(folder / "trained.npy" for folder in folders)),
    )


def _talk_or_event(row: dict[str, Any]) -> tuple[TalkTurn, ...] | str | None:
    if "turns" in row:
        return tuple((SPEAKERS[turn["speaker"]], turn["text"]) for turn in row["turns"] if turn["text"])
    return str(row["text"]) if is_grave(row) else None


def is_grave(row: dict[str, Any]) -> bool:
    """Return whether a row is a life event, a need or a danger: by its `band` or `urgency`, or where it has neither."""
    labelled = "band" in row or "urgency" in row
    return not labelled or row.get("band") == GRAVE_BAND or row.get("urgency", 0) > 0


@cache
def _reading_of(text: str) -> MessageAnalysis:
    return read_now([text])[0]


def _places(talk: Sequence[TalkTurn]) -> list[int]:
    return [i for i, (author, _) in enumerate(talk) if author is Author.STUDENT]


def measure_boundaries(_: Settings, file: Path | None) -> Figures:
    """Measure boundaries on a file of TIAGE, or on the sample that ships.

    Raises
    ------
    InvalidInput    another format, or no boundary anywhere
    """
    talks = read_segmented_talks(file or SAMPLE)
    gold = [shifts for _, shifts in talks]
    if not any(map(any, gold)):
        raise InvalidInput(f"There is no boundary in {file}: it cannot be measured.")
    encode, episodes = shipped_network(EMBEDDER_THREADS).encode, load_topic_boundaries()
    vectors = [encode([each.text for each in talk]) for talk, _ in tracked(talks, "Embedding")]
    messages = [
        [replace(each, embedding=row) for each, row in zip(talk, rows, strict=True)]
        for (talk, _), rows in zip(talks, vectors, strict=True)
    ]
    start = perf_counter()
    found = [_shifts(episodes, talk, ahead=True) for talk in tracked(messages, "Finding boundaries")]
    seconds, turns = perf_counter() - start, sum(map(len, gold))
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


def read_segmented_talks(path: Path) -> list[SegmentedTalk]:
    """Read talks in the format of TIAGE: `turns`, a list of `{"speaker", "text", "shift": 0 or 1}`, one talk a line.

    The first speaker is the student; messages are twenty seconds apart.

    Raises
    ------
    InvalidInput    a line is of another format; names file and line

    Source: Xie et al. 2021, TIAGE.

    Examples
    --------
    >>> talk, shifts = read_segmented_talks(SAMPLE)[0]
    >>> talk[0].text, len(shifts) == len(talk)
    ('hello what are doing today ?', True)
    """
    return parsed_rows(path, _segmented, '"turns" of speaker, text and shift, as in TIAGE, are')


def _segmented(row: dict[str, Any]) -> SegmentedTalk:
    said = [(turn["speaker"], turn["text"], turn["shift"]) for turn in row["turns"]]
    if not said or not all(isinstance(text, str) and shift in (0, 1) for _, text, shift in said):
        raise ValueError("no turn, a text that is none, or another shift")
    authors = [Author.STUDENT if speaker == said[0][0] else Author.COMPANION for speaker, *_ in said]
    talk = [Message(authors[i], text, UNDATED + i * TURN_GAP) for i, (_, text, _) in enumerate(said)]
    return talk, [shift for *_, shift in said]


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
