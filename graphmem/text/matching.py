"""Matching of predictions, facts, names and topics with what was said, and the chance of a match (spec 4, 6).

The chance that a prediction came true is told by a small forest over what parts two messages, made by
`scripts/train/match.py`; its figures stand beside it.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process, utils

from graphmem.errors import SetupError
from graphmem.model import Fact, Vector
from graphmem.text.doc import Doc
from graphmem.text.networks import opened_weights
from graphmem.text.pairs import Compared, pair_feature_names, pair_features
from graphmem.text.words import parts

MATCHED = 0.6
"""A turn counts as matched from this score on."""


MEANT = 0.4
"""Cosine from which a fact fits by its meaning alone: 0.7 on the scale from 0 to 1 of memories."""


MATCH_FOLDER = Path(__file__).with_name("weights") / "match"
MATCH_FILE = MATCH_FOLDER / "match.npz"


def retrieve(
    facts: Sequence[Fact],
    needed: Iterable[str],
    limit: int = 10,
    floor: float = 60.0,
    meant: Mapping[str, float] | None = None,
) -> list[Fact]:
    """The facts that fit best what is needed, by their words or by their meaning; ties newest first.

    Parameters
    ----------
    facts : sequence of Fact, any order
    needed : keywords, e.g. from a prediction; blank ones are ignored
    limit : int >= 0, most facts returned
    floor : float in (0, 100], worse fuzzy scores are no fit at all
    meant : by id, the cosine of a fact to what is needed, from `meant_facts`

    Returns
    -------
    list of Fact, best first; empty when nothing is needed or nothing fits

    Notes
    -----
    A fact's score is its best fuzzy score over its text and its tags against each keyword:
    `partial_ratio` against the text (a keyword is shorter than a sentence), `ratio` against a tag.
    Texts are compared only where some word begins like one of a keyword, which all that fit do.
    Its meaning counts as 100 * (1 + cosine) / 2; the better of both ranks it.

    Source: spec 4 (violation of expectation, retrieval).

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> at = datetime(2026, 1, 1, tzinfo=UTC)
    >>> facts = [Fact("a", 1, "Is afraid of fractions.", ("fractions",), at),
    ...          Fact("b", 2, "Has a dog called Bello.", ("dog", "Bello"), at)]
    >>> [f.id for f in retrieve(facts, ["fraction"])]
    ['a']
    """
    scores = {fact.id: 50.0 * (1.0 + meant[fact.id]) for fact in facts if meant and fact.id in meant}
    for fact, score in _fuzzy_scores(facts, [k for k in (utils.default_process(n) for n in needed) if k], floor):
        scores[fact.id] = max(scores.get(fact.id, 0.0), score)
    fitting = [fact for fact in facts if scores.get(fact.id, 0.0) > 0]
    return sorted(fitting, key=lambda fact: (-scores[fact.id], -fact.seq))[:limit]


def meant_facts(facts: Sequence[Fact], vectors: Mapping[str, Vector], asked: Sequence[Vector]) -> dict[str, float]:
    """Facts that fit by their meaning, by id, each with its greatest cosine to what is asked.

    Parameters
    ----------
    facts : sequence of Fact
    vectors : unit vectors of their texts, by text; those without one are left out
    asked : unit vectors

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> east, north = np.eye(2, dtype=np.float32)
    >>> facts = [Fact(text, 1, text, (), datetime(2026, 1, 1, tzinfo=UTC)) for text in ("a", "b", "c")]
    >>> meant_facts(facts, {"a": east, "b": north}, [east])
    {'a': 1.0}
    """
    known = [fact for fact in facts if fact.text in vectors]
    if not known or not asked:
        return {}
    cosines = (np.stack([vectors[fact.text] for fact in known]) @ np.stack(asked).T).max(axis=1)
    return {fact.id: float(cosine) for fact, cosine in zip(known, cosines, strict=True) if cosine >= MEANT}


def _fuzzy_scores(facts: Sequence[Fact], keywords: Sequence[str], floor: float) -> list[tuple[Fact, int]]:
    """The fuzzy score of each fact that has a word in common with the plain keywords."""
    wanted = _beginnings(keywords)
    near = [fact for fact in facts if not wanted.isdisjoint(fact.beginnings)]
    if not near:
        return []
    best = _best_scores([f.plain for f in near], keywords, fuzz.partial_ratio, floor)
    owners = [i for i, f in enumerate(near) for _ in f.tags]
    tag_scores = _best_scores([t for f in near for t in f.plain_tags], keywords, fuzz.ratio, floor)
    for owner, score in zip(owners, tag_scores, strict=True):
        best[owner] = max(best[owner], score)
    return list(zip(near, best, strict=True))


def named(doc: Doc, names: Iterable[str]) -> bool:
    """True if a message names somebody.

    Examples
    --------
    >>> named(Doc("Can you help me?"), ["Bello"]), named(Doc("I met Bello."), ["Bello"])
    (False, True)
    """
    words = {part for term in doc.terms for part in (term, *parts(term))}
    return any(term in words for name in names for term in Doc(name).terms)


def overlap(doc: Doc, topics: Iterable[str]) -> float:
    """Share of a companion's topics whose words all occur in a message; in [0, 1], 0 without topics.

    Examples
    --------
    >>> overlap(Doc("Is a common fraction a number?"), ["common fraction", "geometry"])
    0.5
    """
    words = set(doc.terms)
    hits = [words.issuperset(Doc(topic).terms) for topic in topics if topic.strip()]
    return sum(hits) / len(hits) if hits else 0.0


def _beginnings(texts: Iterable[str]) -> frozenset[str]:
    """The first four letters of each word, the same for most inflections and slips of the pen."""
    return frozenset(word[:4] for text in texts for word in text.split())


def _best_scores(
    texts: Sequence[str], keywords: Sequence[str], scorer: Callable[..., float], floor: float
) -> list[int]:
    """The best score of each plain text against any of the plain keywords; 0 where it is below the floor."""
    if not texts:
        return []
    return [
        int(s) for s in process.cdist(keywords, texts, scorer=scorer, score_cutoff=floor, dtype=np.uint8).max(axis=0)
    ]


@dataclass(frozen=True)
class MatchModel:
    """Decision trees side by side, each node at one place of flat arrays; `load_match` gives one.

    roots : place of each tree's first node
    feature : which feature a node looks at; -1 in a leaf
    cut : the right branch is taken above it
    left, right : places of the branches
    share : in a leaf, the share of pairs that came true
    scale, shift : logistic calibration of the mean share
    """

    roots: NDArray[np.int32] = field(repr=False)
    feature: NDArray[np.int16] = field(repr=False)
    cut: NDArray[np.float32] = field(repr=False)
    left: NDArray[np.int32] = field(repr=False)
    right: NDArray[np.int32] = field(repr=False)
    share: NDArray[np.float32] = field(repr=False)
    scale: float
    shift: float

    def chance(self, before: Compared, predicted: Compared, actual: Compared) -> float:
        """The chance that a prediction came true in substance: same act, same answer, same understanding.

        Parameters
        ----------
        before : Compared, the message that was answered; that of an empty text where there was none
        predicted, actual : Compared

        Returns
        -------
        float in [0, 1], calibrated on pairs that people would meet; a turn counts as matched from 0.6

        Source: spec 4.

        Examples
        --------
        >>> from graphmem.text.doc import Doc
        >>> from graphmem.text.embedder import EMBEDDER_FOLDER, ShippedNetwork
        >>> encode = ShippedNetwork(1).encode
        >>> def chance(*texts):
        ...     return load_match().chance(*(Compared(Doc(text), encode([text])[0]) for text in texts))
        >>> chance("How much is it?", "It would cost $99 + $5 = $104", "99 - 5 = 94 dollars") < 0.4
        True
        >>> chance("How much is it?", "It would cost $99 + $5 = $104", "104 dollars") > 0.6
        True
        """
        return self.chances(pair_features(before, predicted, actual)[np.newaxis])[0]

    def chances(self, rows: NDArray[np.float64]) -> list[float]:
        """Chances of pairs by their features.

        Parameters
        ----------
        rows : float array of shape (n, features)

        Returns
        -------
        n floats in [0, 1]
        """
        shares = self._shares(rows)
        logits = np.log(np.clip(shares, 1e-3, 1 - 1e-3) / (1 - np.clip(shares, 1e-3, 1 - 1e-3)))
        chances: list[float] = (1 / (1 + np.exp(-(self.scale * logits + self.shift)))).tolist()
        return chances

    def _shares(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean share of the leaves that each row comes to, all trees and rows one level at a time."""
        places = np.tile(self.roots, len(rows))
        row_of = np.repeat(np.arange(len(rows)), len(self.roots))
        # Most trees come to a leaf soon: only those still under way are looked at.
        moving = np.flatnonzero(self.feature[places] >= 0)
        while moving.size:
            at = places[moving]
            right = rows[row_of[moving], self.feature[at]] > self.cut[at]
            places[moving] = at = np.where(right, self.right[at], self.left[at])
            moving = moving[self.feature[at] >= 0]
        shares: NDArray[np.float64] = self.share[places].reshape(len(rows), -1).mean(axis=1, dtype=np.float64)
        return shares

    @cached_property
    def trees(self) -> int:
        """Number of trees."""
        return len(self.roots)


def load_match(path: Path = MATCH_FILE) -> MatchModel:
    """Load the shipped model, or one made by `scripts/train/match.py`.

    Raises
    ------
    SetupError      the file is missing or damaged, or was made for other features
    """
    with opened_weights(path) as file:
        names = tuple(json.loads(str(file["features"])))
        arrays = {name: file[name] for name in ("roots", "feature", "cut", "left", "right", "share")}
        scale, shift = map(float, file["calibration"])
    if names != pair_feature_names():
        raise SetupError(f"{path} was made for other features: run scripts/train/match.py.")
    return MatchModel(**arrays, scale=scale, shift=shift)
