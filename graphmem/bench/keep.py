"""Salience: the share of gold evidence among the most salient memories (spec 6, Measured by).

Shares are of all turns of a conversation. A turn counts with the salience of its most salient memory; a turn without
memories is dropped first, so that to store little is no advantage.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from graphmem.bench import Figures
from graphmem.bench.harness import Talker, embedding, fresh_student, own_database, served, show_figures
from graphmem.bench.recall import ENVIRONMENT, Embed, observe_talk
from graphmem.bench.talks import Talk, read_talks
from graphmem.errors import InvalidInput
from graphmem.settings import Settings

SalienceScores = NDArray[np.float64]
"""What each turn is worth, of shape (turns,); -inf: nothing is remembered of it."""
SHARES = (10, 20, 30, 50)
BASELINES_AT = 30
SALIENCE_SEEDS = 200


def measure_keep(settings: Settings, file: Path | None) -> Figures:
    """Measure the evidence kept by salience on a file of LoCoMo, beside chance, recency, novelty and length.

    Raises
    ------
    InvalidInput    no file, another format, or no question with evidence
    """
    if file is None:
        raise InvalidInput("Name a file of LoCoMo: graphmem bench keep FILE.")
    talks = read_talks(file)
    with own_database(settings) as own, served(own, **ENVIRONMENT) as port:
        return salience_figures(own, port, talks)


def salience_figures(settings: Settings, port: int, talks: Sequence[Talk]) -> Figures:
    """Compute the figures of talks on a served API, each a mean over the talks."""
    talks = [talk for talk in talks if talk.questions]
    if not talks:
        raise InvalidInput("There is no question with evidence in this file.")
    found = []
    with embedding(settings) as embed:
        for talk in talks:
            figures = _kept_of_talk(settings, port, talk, embed)
            found.append(figures)
            show_figures({f"{talk.id} kept@30": figures["kept@30"]})
    return {key: fmean(figures[key] for figures in found) for key in found[0]}


def _kept_of_talk(settings: Settings, port: int, talk: Talk, embed: Embed) -> Figures:
    gold = {turn_id for question in talk.questions for turn_id in question.gold}
    is_gold = np.array([turn.id in gold for turn in talk.turns])
    talker = fresh_student(settings, port, talk.id)
    observe_talk(talker, talk)
    salience = _salience(talker, talk)
    talker.caller.close()
    count = len(talk.turns)
    vectors = embed([turn.text for turn in talk.turns])
    plain: dict[str, SalienceScores] = {
        "recent": np.arange(count, dtype=float),
        "novelty": 1.0 - np.tril(vectors @ vectors.T, k=-1).max(axis=1).astype(np.float64),
        "length": np.array([float(len(turn.text.split())) for turn in talk.turns]),
    }
    chance = [np.random.default_rng(seed).random(count) for seed in range(SALIENCE_SEEDS)]
    return {
        **{f"kept@{share}": evidence_kept(salience, is_gold, share) for share in SHARES},
        f"random@{BASELINES_AT}": fmean(evidence_kept(each, is_gold, BASELINES_AT) for each in chance),
        **{f"{name}@{BASELINES_AT}": evidence_kept(each, is_gold, BASELINES_AT) for name, each in plain.items()},
        "turns_remembered": float(np.isfinite(salience).mean()),
        "gold_remembered": float(np.isfinite(salience[is_gold]).mean()),
    }


def evidence_kept(scores: SalienceScores, is_gold: NDArray[np.bool_], share: int) -> float:
    """Compute the share of the gold turns among the best `share` per cent of all turns, of equals the earlier first.

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
    for memory in talker.memories():
        for ref in {source["ref"] for source in memory["sources"]} & place.keys():
            scores[place[ref]] = max(scores[place[ref]], memory["salience"])
    return scores
