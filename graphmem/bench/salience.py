"""Salience benchmark: the share of gold evidence among the most salient memories (spec 6, Measured by).

Shares are of all turns of a conversation. A turn counts with the salience of its most salient memory, one that
nothing was remembered of is dropped first, so that to store little is no advantage.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from graphmem.bench import Figures
from graphmem.bench.baselines import Embed, embedding
from graphmem.bench.datasets import Talk, read_talks
from graphmem.bench.harness import Talker, own_database, served
from graphmem.bench.ingest import fresh_student, list_remembered, observe_talk
from graphmem.errors import InvalidInput
from graphmem.settings import Settings

SalienceScores = NDArray[np.float64]
"""What each turn is worth, of shape (turns,); -inf: nothing is remembered of it."""

SHARES = (10, 20, 30, 50)
BASELINES_AT = 30
SALIENCE_SEEDS = 200


def measure_keep(settings: Settings, file: Path | None) -> Figures:
    """Evidence kept by salience on a file of LoCoMo, beside chance, recency, novelty and length.

    Raises
    ------
    InvalidInput    no file, another format, or no question with evidence
    """
    if file is None:
        raise InvalidInput("Name a file of LoCoMo: graphmem bench keep FILE.")
    talks = read_talks(file)
    with own_database(settings) as own, served(own, GRAPHMEM_SESSION_MINUTES="600") as port:
        return salience_figures(own, port, talks)


def salience_figures(settings: Settings, port: int, talks: Sequence[Talk]) -> Figures:
    """The figures of talks on a served API, each a mean over the talks."""
    talks = [talk for talk in talks if talk.questions]
    if not talks:
        raise InvalidInput("There is no question with evidence in this file.")
    with embedding(settings) as embed:
        each = [_of_talk(settings, port, talk, embed) for talk in talks]
    return {key: fmean(figures[key] for figures in each) for key in each[0]}


def _of_talk(settings: Settings, port: int, talk: Talk, embed: Embed) -> Figures:
    gold = {turn_id for question in talk.questions for turn_id in question.gold}
    is_gold = np.array([turn.id in gold for turn in talk.turns])
    talker = fresh_student(settings, port, talk.id)
    observe_talk(talker, talk)
    salience = _salience(talker, talk)
    talker.caller.close()
    recent = np.arange(len(talk.turns), dtype=float)
    lengths = np.array([float(len(turn.text.split())) for turn in talk.turns])
    novelty = _novelty(talk, embed)

    def kept(scores: SalienceScores, share: int) -> float:
        return evidence_kept(scores, is_gold, share)

    return {
        **{f"kept@{share}": kept(salience, share) for share in SHARES},
        f"random@{BASELINES_AT}": fmean(_by_chance(len(talk.turns), lambda s: kept(s, BASELINES_AT))),
        f"recent@{BASELINES_AT}": kept(recent, BASELINES_AT),
        f"novelty@{BASELINES_AT}": kept(novelty, BASELINES_AT),
        f"length@{BASELINES_AT}": kept(lengths, BASELINES_AT),
        "turns_remembered": float(np.isfinite(salience).mean()),
        "gold_remembered": float(np.isfinite(salience[is_gold]).mean()),
    }


def evidence_kept(scores: SalienceScores, is_gold: NDArray[np.bool_], share: int) -> float:
    """Share of the gold turns among the best `share` per cent of all turns, of equals the earlier first.

    Parameters
    ----------
    scores : float array of shape (n,); -inf is never kept
    is_gold : bool array of shape (n,), at least one of them true
    share : int, per cent

    Examples
    --------
    >>> evidence_kept(np.array([0.9, 0.1, 0.5, -np.inf]), np.array([True, True, False, False]), share=50)
    0.5
    """
    best = np.argsort(-scores, kind="stable")[: round(len(scores) * share / 100)]
    return float(is_gold[best[np.isfinite(scores[best])]].sum() / is_gold.sum())


def _salience(talker: Talker, talk: Talk) -> SalienceScores:
    place = {turn.id: i for i, turn in enumerate(talk.turns)}
    scores = np.full(len(talk.turns), -np.inf)
    for memory in list_remembered(talker):
        for ref in memory.refs & place.keys():
            scores[place[ref]] = max(scores[place[ref]], memory.salience)
    return scores


def _novelty(talk: Talk, embed: Embed) -> SalienceScores:
    """Novelty of each turn: its dissimilarity to all earlier turns."""
    vectors = embed([turn.text for turn in talk.turns])
    cosines = np.tril(vectors @ vectors.T, k=-1)
    unlike: SalienceScores = 1.0 - cosines.max(axis=1).astype(np.float64)
    return unlike


def _by_chance(turns: int, kept: Callable[[SalienceScores], float]) -> list[float]:
    return [kept(np.random.default_rng(seed).random(turns)) for seed in range(SALIENCE_SEEDS)]
