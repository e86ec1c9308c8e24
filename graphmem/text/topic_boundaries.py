"""Topic segmentation: a linear model on likeness of meaning, shared words and wording.

Made by `scripts/train/boundaries.py` from the train part of TIAGE (Xie et al. 2021), chats in which people marked where
the topic shifts. A turn is judged by the eight before it: at once, or once the next turn is known, which is surer.
"""

import math
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmem.errors import InvalidInput
from graphmem.maths.chances import logistic
from graphmem.maths.importance import SEGMENT_GAP
from graphmem.model import Matrix, Message, Vector
from graphmem.text.doc import Doc, doc_of, once_per_doc
from graphmem.text.lexicon import STOP_WORDS
from graphmem.text.networks import opened_weights
from graphmem.text.stems import stem
from graphmem.text.words import parts, word_rarity

BOUNDARY_FILE = Path(__file__).with_name("weights") / "boundaries" / "boundaries.npz"
BOUNDARY_FORMS = ("online_full", "online_words", "ahead_full", "ahead_words")
"""With or without the turn that follows, with or without vectors."""
WEIGHT_PARTS = ("mean", "scale", "numbers", "words", "vector")
SIGHT = 8
"""Turns back that are looked at."""
BOUNDARY_BUCKETS = 1 << 13
BOUNDARY_CHARACTERS = 2048
"""Characters of a message looked at."""
EXTREME = 3.0
"""Standard deviations from which on a number counts no further: lessons have longer turns than chats."""

Numbers = NDArray[np.float64]

_SENTENCE_MARKS = re.compile("[?!]")
_SHORT = re.compile(r"(n't|'m|'re|'ve|'ll|'d|'s)\b")
_SPOKEN_OUT = {"n't": " not", "'m": " am", "'re": " are", "'ve": " have", "'ll": " will", "'d": " would", "'s": " is"}
_POINTING = re.compile(r"\b(?:it|that|this|they|them|those|these|he|she|him|her)\b")
_BACK = range(1, SIGHT + 1)
_MOST = 3
"""Longest run of words that is a feature of its own: `do you like`, `by the way`."""


class _Read(NamedTuple):
    """A message as it is compared: the rarity of each content word by its beginning, and how it is worded."""

    rarities: dict[str, float]
    style: tuple[float, ...]


@dataclass(frozen=True)
class BoundaryForm:
    """Weights of one form: of numbers (standardised), of hashed words in each place, and of the vector itself."""

    mean: Numbers = field(repr=False)
    scale: Numbers = field(repr=False)
    numbers: Numbers = field(repr=False)
    words: Numbers = field(repr=False)
    vector: Numbers = field(repr=False)
    bias: float
    threshold: float


@dataclass(frozen=True)
class TopicBoundaryModel:
    """The sense of where episodes begin; `load_topic_boundaries` gives one."""

    online_full: BoundaryForm
    online_words: BoundaryForm
    ahead_full: BoundaryForm
    ahead_words: BoundaryForm

    def probabilities(self, messages: Sequence[Message], *, ahead: bool) -> Numbers:
        """Probability that a new episode begins, for each message.

        Parameters
        ----------
        messages : of one talk, oldest first, with embeddings of the shipped model `onnx:all-MiniLM-L6-v2`; where
            any of them has none, words alone decide, which is weaker
        ahead : bool, whether a message may be judged by the one after it too, as background work can; the newest
            message, and the last before a long gap, is judged without

        Returns
        -------
        float64 array of shape (n,), each in [0, 1]; 1 for the first message and for one an hour or more after
            the message before it

        Raises
        ------
        InvalidInput                    an embedding is of another model

        Notes
        -----
        A message is judged by the eight before it in the same sitting, and by the one after it with `ahead`. So
        online the last nine messages are enough to judge the newest as the whole talk would.

        Source: spec 5; Xie et al. 2021, TIAGE.

        Examples
        --------
        >>> from datetime import UTC, datetime
        >>> from graphmem.model import Author
        >>> said = ["i have two dogs .", "cool , what are your dogs called ?", "they are called rex and spot .",
        ...         "cute . what do you do for a living ?"]
        >>> talk = [Message(list(Author)[i % 2], text, datetime(2026, 1, 1, tzinfo=UTC)) for i, text in enumerate(said)]
        >>> load_topic_boundaries().probabilities(talk, ahead=False).round().tolist()
        [1.0, 0.0, 0.0, 1.0]
        """
        return self._judged(messages, ahead)[0]

    def starts(self, messages: Sequence[Message], *, ahead: bool) -> NDArray[np.bool_]:
        """Which messages begin a new episode; parameters and errors as for `probabilities`.

        Returns
        -------
        bool array of shape (n,): whether the probability reaches the threshold that gave the best F1 in
            cross-validation, which lies below one half; True where the probability is 1
        """
        probabilities, thresholds = self._judged(messages, ahead)
        return np.asarray(probabilities >= thresholds)

    def newest_starts(self, messages: Sequence[Message]) -> bool:
        """True if the newest message begins an episode, while the talk runs: the last of `starts` without `ahead`.

        Parameters
        ----------
        messages : of one talk, oldest first, at least one; only the last nine are looked at

        Raises
        ------
        InvalidInput                    no message, or an embedding of another model
        """
        if not messages:
            raise InvalidInput("There is no newest message: give at least one.")
        last = messages[-SIGHT - 1 :]
        start = [start for start, _ in _sittings(last)][-1]
        docs = [spoken_out(doc_of(m)) for m in last[start:]]
        full = all(m.embedding is not None for m in last[start:])
        form = self.online_full if full else self.online_words
        vectors = _vectors(last[start:], len(form.vector)) if full else None
        if len(docs) == 1:
            return True
        newest = range(len(docs) - 1, len(docs))
        return bool(_logistic(form, docs, vectors, newest, ahead=False)[0] >= form.threshold)

    def _judged(self, messages: Sequence[Message], ahead: bool) -> tuple[Numbers, Numbers]:
        """Probabilities, and the thresholds they have to reach."""
        full = all(m.embedding is not None for m in messages)
        online, later = (self.online_full, self.ahead_full) if full else (self.online_words, self.ahead_words)
        judged, thresholds = np.ones(len(messages)), np.full(len(messages), online.threshold)
        for start, stop in _sittings(messages):
            sitting = messages[start:stop]
            vectors = _vectors(sitting, len(online.vector)) if full else None
            docs = [spoken_out(doc_of(m)) for m in sitting]
            size = len(docs)
            known = range(1, size - 1) if ahead else range(0)
            at_once = range(max(1, known.stop), size)
            judged[start + known.start : start + known.stop] = _logistic(later, docs, vectors, known, ahead=True)
            thresholds[start + known.start : start + known.stop] = later.threshold
            judged[start + at_once.start : stop] = _logistic(online, docs, vectors, at_once, ahead=False)
        return judged, thresholds


def load_topic_boundaries(path: Path = BOUNDARY_FILE) -> TopicBoundaryModel:
    """Read the weights, once a process.

    Raises
    ------
    SetupError                          the file is missing or damaged
    """
    with opened_weights(path) as file:
        return TopicBoundaryModel(**{name: _read_form(file, name) for name in BOUNDARY_FORMS})


def numbers(docs: Sequence[Doc], vectors: Matrix | None, turns: range, *, ahead: bool) -> Numbers:
    """Boundary features for some turns of a sitting: not the first, and with `ahead` not the last.

    Returns
    -------
    float64 array of shape (len(turns), features); NaN where there is nothing to compare with yet
    """
    read = [_compared_message(doc) for doc in docs]
    rows = []
    for i in turns:
        row = [
            *_overlap(read, i),
            *read[i].style,
            *read[i - 1].style,
            *(float(min(i, SIGHT) == k) for k in _BACK),
        ]
        if vectors is not None:
            row += _alike(vectors, i)
        if ahead:
            row += [*_shared_ahead(read, i), *read[i + 1].style]
            if vectors is not None:
                row += _alike_ahead(vectors, i)
        rows.append(row)
    return np.array(rows, dtype=np.float64)


@once_per_doc
def spoken_out(doc: Doc) -> Doc:
    """A message as the weights were trained on: TIAGE is in lower case and without short forms.

    Examples
    --------
    >>> spoken_out(Doc("I’m Ada")).text
    'i am ada'
    """
    return Doc(_SHORT.sub(lambda match: _SPOKEN_OUT[match.group()], doc.plain[:BOUNDARY_CHARACTERS]), doc.vector)


@once_per_doc
def boundary_buckets(doc: Doc) -> NDArray[np.int64]:
    """The hashed words of a message spoken out and its runs of two and three words, each once.

    Examples
    --------
    >>> [len(boundary_buckets(Doc(text))) for text in ("by the way", "i am", "")]
    [6, 3, 0]
    """
    tokens = [part for token in doc.tokens for part in (parts(token.text) or _SENTENCE_MARKS.findall(token.text))]
    runs = {" ".join(tokens[i : i + size]) for size in range(1, _MOST + 1) for i in range(len(tokens) - size + 1)}
    return np.array(sorted({zlib.crc32(run.encode()) % BOUNDARY_BUCKETS for run in runs}), dtype=np.int64)


def boundary_word_weight(buckets: NDArray[np.int64]) -> float:
    """Weight of one of these words, normalised by length: long texts do not count more."""
    return 1.0 / math.sqrt(max(1, len(buckets)))


def places(turn: int, *, ahead: bool) -> tuple[int, ...]:
    """The turns whose words are read to judge one, in the order of the rows of `Form.words`.

    Examples
    --------
    >>> places(3, ahead=True)
    (3, 2, 4)
    """
    return (turn, turn - 1, turn + 1) if ahead else (turn, turn - 1)


def standardised(values: Numbers, mean: Numbers, scale: Numbers) -> Numbers:
    """Numbers as the weights expect them; what is unknown counts as average."""
    return np.nan_to_num(np.clip((values - mean) / scale, -EXTREME, EXTREME))


def _logistic(form: BoundaryForm, docs: Sequence[Doc], vectors: Matrix | None, turns: range, *, ahead: bool) -> Numbers:
    """Probabilities of some turns of a sitting."""
    if not turns:
        return np.zeros(0)
    values = numbers(docs, vectors, turns, ahead=ahead)
    logits = form.bias + standardised(values, form.mean, form.scale) @ form.numbers
    if vectors is not None:
        logits += vectors[turns.start : turns.stop] @ form.vector
    hashed = {i: boundary_buckets(docs[i]) for i in range(turns.start - 1, turns.stop + ahead)}
    for row, i in enumerate(turns):
        for place, turn in enumerate(places(i, ahead=ahead)):
            logits[row] += form.words[place][hashed[turn]].sum() * boundary_word_weight(hashed[turn])
    return logistic(logits)


@once_per_doc
def _compared_message(doc: Doc) -> _Read:
    plain = doc.text
    words = [part for word in doc.words for part in parts(word) if part.isalpha()]
    content = {stem(word): word_rarity(word) for word in words if word not in STOP_WORDS}
    asks = plain.count("?")
    style = (
        math.log1p(len(words)),
        float(asks > 0),
        float(plain.rstrip().endswith("?")),
        float(asks),
        float(len(doc.sentences)),
        float("!" in plain),
        float(_POINTING.search(plain) is not None),
        float(len(content)),
    )
    return _Read(content, style)


def _overlap(read: Sequence[_Read], i: int) -> list[float]:
    """Lexical overlap of a turn with those before it: repeated content words, and how much is new."""
    own = read[i].rarities
    just, near, all_seen = (_said(read[max(0, i - back) : i]) for back in (1, 3, SIGHT))
    again, again_near = len(own.keys() & just), len(own.keys() & near)
    new = own.keys() - all_seen
    share = 1.0 / max(1, len(own))
    return [
        float(again),
        float(again_near),
        float(len(own.keys() & all_seen)),
        again * share,
        again_near * share,
        float(len(new)),
        sum(own[word] for word in new),
    ]


def _shared_ahead(read: Sequence[_Read], i: int) -> list[float]:
    """Lexical overlap of the next turn: with this turn, with those before it, and with what is new in this one."""
    after = read[i + 1].rarities.keys()
    own = read[i].rarities.keys()
    just, near, all_seen = (_said(read[max(0, i - back) : i]) for back in (1, 3, SIGHT))
    return [float(len(after & words)) for words in (own, just, near, own - all_seen)]


def _said(read: Sequence[_Read]) -> set[str]:
    return {word for each in read for word in each.rarities}


def _alike(vectors: Matrix, i: int) -> list[float]:
    """Likeness of a turn to the ones before it, single and in blocks."""
    cosines = vectors[max(0, i - 6) : i] @ vectors[i]
    single = [float(cosines[-back]) if back <= len(cosines) else math.nan for back in range(1, 5)]
    blocks = [_sum_cosine(vectors[max(0, i - back) : i], vectors[i : i + 1]) for back in (2, 3, 5)]
    before = float(vectors[i - 1] @ vectors[i - 2]) if i > 1 else math.nan
    return [*single, *blocks, float(cosines.max()), before]


def _alike_ahead(vectors: Matrix, i: int) -> list[float]:
    """Likeness of the next turn to this one and to those before, and of both together to those before."""
    after = vectors[i + 1 : i + 2]
    both = vectors[i : i + 2]
    two, three = (vectors[max(0, i - back) : i] for back in (2, 3))
    return [
        float(vectors[i] @ after[0]),
        float(vectors[i - 1] @ after[0]),
        _sum_cosine(three, after),
        _sum_cosine(two, both),
        _sum_cosine(three, both),
    ]


def _sum_cosine(some: Matrix, others: Matrix) -> float:
    a, b = some.sum(axis=0), others.sum(axis=0)
    lengths = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / lengths if lengths else 0.0


def _sittings(messages: Sequence[Message]) -> Iterator[tuple[int, int]]:
    """Start and stop of each sitting, a stretch without a long gap."""
    if not messages:
        return pairwise([])
    at = np.array([m.at.timestamp() for m in messages])
    ends = [0, *(np.flatnonzero(np.diff(at) >= SEGMENT_GAP) + 1).tolist(), len(messages)]
    return pairwise(ends)


def _vectors(messages: Sequence[Message], dimension: int) -> Matrix:
    rows: list[Vector] = [m.embedding for m in messages if m.embedding is not None]
    shapes = {row.shape for row in rows} - {(dimension,)}
    if shapes:
        raise InvalidInput(
            f"Episodes are found by vectors of shape {(dimension,)}, as the shipped model makes them, not "
            f"{shapes.pop()}: leave the embeddings out to find them by the words."
        )
    return np.stack(rows)


def _read_form(file: Mapping[str, Numbers], name: str) -> BoundaryForm:
    parts = {part: np.asarray(file[f"{name}_{part}"], dtype=np.float64) for part in WEIGHT_PARTS}
    bias, threshold = file[f"{name}_cut"].tolist()
    return BoundaryForm(**parts, bias=bias, threshold=threshold)
