"""Evidence recall end to end: talks observed through the API, remembered, and asked about (spec 10, Measured by).

A gold turn is found when the recalled memories that name it as their source together hold at least half of its
content words. Beside it, in the same run, plain search over the turns themselves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmem.bench import Figures, misconceptions
from graphmem.bench.baselines import METHODS, Embed, Plain, embedding
from graphmem.bench.datasets import EvidenceQuestion, RememberedSource, Talk, read_rows, read_talks, share_found
from graphmem.bench.harness import Talker, own_database, served
from graphmem.bench.ingest import count_ingested, fresh_student, list_remembered, observe_talk, tracked
from graphmem.errors import InvalidInput
from graphmem.settings import Settings

CUTS = (5, 10, 20, 50)
TOKENS = 1000
RESAMPLES = 2000
ENVIRONMENT = {"GRAPHMEM_SESSION_MINUTES": "600", "GRAPHMEM_MEMORIES_LIMIT": "1000000"}
"""Nothing is compressed meanwhile."""
BOOTSTRAP_SEED = 0
RECALL_QUERY = """
query Recall($student: ID!, $question: String!, $limit: Int!) {
  student(id: $student) { recall(query: $question, limit: $limit) { sourceRefs why memory { content quote } } }
}"""
CONTEXT = """
query Context($student: ID!, $question: String!, $budget: Int!) {
  student(id: $student) {
    context(query: $question, tokenBudget: $budget) { tokens memories { sourceRefs memory { content quote } } }
  }
}"""


@dataclass(frozen=True)
class AskedQuestion:
    """One question: the share of its evidence that was found, by figure, and how long recall took."""

    category: int | None
    shares: dict[str, float]
    seconds: float


@dataclass(frozen=True)
class Formed:
    """Result of ingesting a conversation: its duration, and counts of turns and memories."""

    seconds: float
    turns: int
    memories: int
    turns_remembered: int


def measure_recall(settings: Settings, file: Path | None) -> Figures:
    """Evidence recall on a file of LoCoMo, QMSum or MathDial, which is told by its keys.

    Parameters
    ----------
    settings : Settings, whose jars are used for a database of the benchmark's own
    file : JSON lines; needed, since no such data ships with graphmem

    Raises
    ------
    InvalidInput    no file, or another format
    """
    if file is None:
        raise InvalidInput("Name a file of LoCoMo, QMSum or MathDial: graphmem bench recall FILE.")
    told = any(misconceptions.is_one(row) for _, row in read_rows(file)[:1])
    talks = [] if told else read_talks(file)
    with own_database(settings) as own, served(own, **ENVIRONMENT) as port:
        if told:
            return misconceptions.misconception_figures(own, port, file)
        return recall_figures(own, port, talks)


def recall_figures(settings: Settings, port: int, talks: Sequence[Talk]) -> Figures:
    """The figures of talks on a served API."""
    asked: list[AskedQuestion] = []
    formed: list[Formed] = []
    with embedding(settings) as embed:
        for talk in talks:
            talker = fresh_student(settings, port, talk.id)
            formed.append(_formed(talker, talk))
            asked += _asked(talker, talk, embed)
            talker.caller.close()
    if not asked:
        raise InvalidInput("There is no question with evidence in this file.")
    return _figures(asked, formed)


def _formed(talker: Talker, talk: Talk) -> Formed:
    seconds = observe_talk(talker, talk)
    remembered = frozenset().union(*(kept.refs for kept in list_remembered(talker))) & {turn.id for turn in talk.turns}
    return Formed(seconds, len(talk.turns), count_ingested(talker), len(remembered))


def _asked(talker: Talker, talk: Talk, embed: Embed) -> list[AskedQuestion]:
    turns = {turn.id: turn for turn in talk.turns}
    lines = tuple(f"{turn.speaker}: {turn.text}" for turn in talk.turns)
    plain = Plain(lines, embed(lines))
    vectors = embed([question.text for question in talk.questions])
    # The server hangs up on who is silent for so long.
    talker.caller.close()
    asked = []
    for question, vector in tracked(list(zip(talk.questions, vectors, strict=True)), f"Asking about {talk.id}"):
        start = perf_counter()
        found = _remembered(_ask(talker, question.text, RECALL_QUERY, limit=max(CUTS))["recall"])
        seconds = perf_counter() - start
        context = _ask(talker, question.text, CONTEXT, budget=TOKENS)["context"]
        shares = {f"recall@{k}": share_found(question, turns, found[:k]) for k in CUTS}
        shares["recall_1000_tokens"] = share_found(question, turns, _remembered(context["memories"]))
        for method, ranks in plain.ranks(question.text, vector).items():
            ids = [talk.turns[place].id for place in ranks[: max(CUTS)]]
            shares |= {f"{method}@{k}": _share(question, ids[:k]) for k in CUTS}
        asked.append(AskedQuestion(question.category, shares, seconds))
    return asked


def _ask(talker: Talker, question: str, query: str, **more: int) -> Any:
    return talker.caller.call(query, student=talker.student, question=question, **more)


def _remembered(items: Sequence[dict[str, Any]]) -> list[RememberedSource]:
    return [RememberedSource(frozenset(item["sourceRefs"]), _words(item["memory"])) for item in items]


def _words(memory: dict[str, Any]) -> str:
    return f"{memory['content']}\n{memory['quote'] or ''}"


def _share(question: EvidenceQuestion, ids: Sequence[str]) -> float:
    return len(set(question.gold) & set(ids)) / len(question.gold)


def _figures(asked: Sequence[AskedQuestion], formed: Sequence[Formed]) -> Figures:
    own = [f"recall@{k}" for k in CUTS]
    plain = [f"{method}@{k}" for k in (10, 20, 5) for method in METHODS]
    figures = {key: fmean(a.shares[key] for a in asked) for key in (*own, "recall_1000_tokens", *plain)}
    for category in sorted({a.category for a in asked if a.category is not None}):
        shares = [a.shares["recall@10"] for a in asked if a.category == category]
        figures[f"recall@10_category_{category}"] = fmean(shares)
    at_10 = np.array([a.shares["recall@10"] for a in asked])
    gain = at_10 - np.array([a.shares["fusion@10"] for a in asked])
    turns = sum(f.turns for f in formed)
    return (
        figures
        | _interval("recall@10", at_10)
        | _interval("gain@10", gain)
        | {
            "question_p50_ms": 1000 * median(a.seconds for a in asked),
            "form_ms": 1000 * sum(f.seconds for f in formed) / turns,
            "memories_per_turn": sum(f.memories for f in formed) / turns,
            "turns_remembered": sum(f.turns_remembered for f in formed) / turns,
            "questions": len(asked),
        }
    )


def _interval(name: str, values: NDArray[np.float64]) -> Figures:
    """95 % of a mean, by resampling the questions."""
    chance = np.random.default_rng(BOOTSTRAP_SEED)
    means = values[chance.integers(0, len(values), (RESAMPLES, len(values)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return {f"{name}_low": float(low), f"{name}_high": float(high)}
