"""Reads a message in one run: its vector, its statements with their scores, the names in it (spec 7).

The tower reads on from the lower layers of the shipped embedder, whose vector comes with it. Linear heads look at its
tokens: each alone for borders and names, pooled over the message and over each statement for the questions of
`heads.py`. `python -m scripts.train` makes it; its figures lie beside the weights.
"""

import asyncio
from collections.abc import Container, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from graphmem.errors import Unavailable
from graphmem.language.heads import BORDERS, NAMES, TOKEN_MARKS, HeadScores
from graphmem.maths.chances import softmax
from graphmem.model import Matrix, Vector
from graphmem.text.embedder import ShippedNetwork, open_network, shipped_network
from graphmem.text.sentences import sentence_spans
from graphmem.text.trained import opened_weights

ENCODER_FOLDER = Path(__file__).with_name("weights") / "encoder"
_SNR_BANDS = (0, 100, 400, 800, 1000)
"""HeadScores at which the bands begin, and the highest."""
_ENDS = frozenset(".!?…\n")
_APOSTROPHES = "'’"
Spans = Sequence[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class StatementSpan:
    """A statement of a message: a verbatim span, and what it tells.

    start, end : of the span in the message, characters
    scores : of the span's own tokens, in the same run
    snr : int in 0..1000, how much worth remembering it tells: 100, 400 and 800 begin the bands (spec 7)
    """

    start: int
    end: int
    scores: HeadScores
    snr: int


@dataclass(frozen=True)
class NameSpan:
    """A name in a message: its span, its kind (`NAMES`), the chance of that kind."""

    start: int
    end: int
    kind: str
    chance: float


@dataclass(frozen=True, eq=False)
class MessageAnalysis:
    """What one run tells of a message.

    vector : shape (384,), the embedding by the shipped model
    scores, snr : of the whole message
    """

    text: str
    vector: Vector
    scores: HeadScores
    snr: int
    statements: tuple[StatementSpan, ...]
    names: tuple[NameSpan, ...]


class EncoderNetwork:
    """The tower and its heads; may be used by several threads at once.

    Raises
    ------
    SetupError      a file is missing or damaged
    """

    def __init__(self, shipped: ShippedNetwork, threads: int, folder: Path = ENCODER_FOLDER) -> None:
        self._shipped = shipped
        self._session: Any = open_network(folder, threads)
        with opened_weights(folder / "heads.npz") as file:
            self._message, self._token = ((file[name], file[f"{name}_bias"]) for name in ("message", "token"))
            self._cuts, self._eager = file["cuts"], float(file["eager"])

    def analyse(self, text: str) -> MessageAnalysis:
        """Read a message, of which the first 256 tokens count; one without a letter or digit tells nothing."""
        vector, hidden, spans = self._shipped.seen_with_spans(text)
        (upper,) = self._session.run(None, {"hidden": hidden})
        lower, upper = hidden[0], upper[0]
        weight, bias = self._token
        answers = np.concatenate([lower, upper, token_marks(text, spans)], 1) @ weight.T + bias
        borders, kinds = np.split(answers, [len(BORDERS)], 1)
        borders[:, BORDERS.index("begin")] += self._eager
        statements = list[StatementSpan]()
        opens = {start for start, _ in sentence_spans(text)}
        for first, last in statement_tokens(text, spans, borders, opens):
            scores = self._scores(lower[first : last + 1], upper[first : last + 1])
            statements.append(StatementSpan(spans[first][0], spans[last][1], scores, self._snr(scores)))
        scores = self._scores(lower, upper)
        snr = self._snr(scores) if any(map(str.isalnum, text)) else 0
        return MessageAnalysis(text, vector[0], scores, snr, tuple(statements), named_spans(text, spans, kinds))

    def scores_of(self, text: str, parts: Spans) -> list[HeadScores]:
        """Return the scores of spans of a message, in one run; of one beyond what is read those of the message."""
        if not parts:
            return []
        hidden, spans = self._shipped.seen_tokens(text)
        (upper,) = self._session.run(None, {"hidden": hidden})
        lower, upper = hidden[0], upper[0]
        inside = ([i for i, (a, b) in enumerate(spans) if start <= a < b <= end] for start, end in parts)
        return [self._scores(lower[own or slice(None)], upper[own or slice(None)]) for own in inside]

    def _snr(self, scores: HeadScores) -> int:
        return int(np.interp(scores.expected("band"), (0.0, *self._cuts, 3.0), _SNR_BANDS))

    def _scores(self, lower: Matrix, upper: Matrix) -> HeadScores:
        weight, bias = self._message
        return HeadScores(weight @ np.concatenate([lower.mean(0), upper.mean(0), upper.max(0)]) + bias)


class Encoder:
    """Reads messages on a thread of its own, off the event loop; close it with `aclose`.

    Parameters
    ----------
    threads : int > 0, that one message is computed with

    Raises
    ------
    SetupError      a file is missing or damaged

    Examples
    --------
    >>> import asyncio
    >>> encoder = Encoder()
    >>> (found,) = asyncio.run(encoder.analyse(["i moved to Leeds. my cat ran away"]))
    >>> [found.text[each.start : each.end] for each in found.statements]
    ['i moved to Leeds.', 'my cat ran away']
    >>> asyncio.run(encoder.aclose())
    """

    def __init__(self, threads: int = 1) -> None:
        self._network = encoder_network(threads)
        self._thread = ThreadPoolExecutor(1, "encoder")

    async def analyse(self, texts: Sequence[str]) -> list[MessageAnalysis]:
        """Read messages, each alone: what stands beside one changes nothing in it.

        Raises
        ------
        Unavailable     the encoder has been closed
        """
        loop = asyncio.get_running_loop()
        try:
            return [await loop.run_in_executor(self._thread, self._network.analyse, text) for text in texts]
        except RuntimeError as error:
            raise Unavailable("The encoder has been closed: this process is shutting down.") from error

    async def aclose(self) -> None:
        """Finish what is queued, then release the thread; calling it again does nothing."""
        await asyncio.to_thread(self._thread.shutdown)


@lru_cache(maxsize=2)
def encoder_network(threads: int = 1) -> EncoderNetwork:
    """Return the network that ships, loaded once a process."""
    return EncoderNetwork(shipped_network(threads), threads)


def token_marks(text: str, spans: Spans) -> Matrix:
    """Return marks of letters of each token, shape (tokens, TOKEN_MARKS).

    They are: a capital begins it, its word is all capitals, it begins a word, it opens a sentence or line, a line break
    stands before it. Where a text holds no capital at all, the third is 0.5.

    Examples
    --------
    >>> token_marks("ok Mia", [(0, 0), (0, 2), (3, 6), (0, 0)])[:, 0].tolist()
    [0.0, 0.0, 1.0, 0.0]
    """
    found, cased = np.zeros((len(spans), TOKEN_MARKS), np.float32), text != text.lower()
    for row, (start, end) in zip(found, spans, strict=True):
        if start < end:
            before = text[:start].rstrip(" \t\"'(“")
            begins = start == 0 or not text[start - 1].isalnum()
            own = text[start:end]
            row[0] = own[:1].isupper() and begins
            row[1] = own.isupper() and len(own) > 1
            row[2] = begins * (1.0 if cased else 0.5)
            row[3] = not before or before[-1] in _ENDS
            row[4] = before.endswith("\n")
    return found


def statement_tokens(text: str, spans: Spans, borders: Matrix, opens: Container[int] = ()) -> list[tuple[int, int]]:
    """Return the first and last token of each statement, by the answers of the border head, (tokens, 3).

    A statement begins at the first token of a word, also where a sentence opens, and holds a letter or digit.
    """
    found: list[list[int]] = []
    for i, label in enumerate(borders.argmax(1)):
        start, end = spans[i]
        if start == end or BORDERS[label] == "outside":
            continue
        begins = start == 0 or not (text[start - 1].isalnum() or text[start - 1] in _APOSTROPHES)
        after_gap = not found or found[-1][1] < _last_before(spans, i)
        if begins and text[start].isalnum() and (BORDERS[label] == "begin" or after_gap or start in opens):
            found.append([i, i])
        elif found:
            found[-1][1] = i
    return [(first, last) for first, last in found if any(map(str.isalnum, text[spans[first][0] : spans[last][1]]))]


def _last_before(spans: Spans, place: int) -> int:
    """Return the token before a place that stands for text."""
    return next((i for i in range(place - 1, -1, -1) if spans[i][0] < spans[i][1]), -1)


def named_spans(text: str, spans: Spans, kinds: Matrix) -> tuple[NameSpan, ...]:
    """Return the names of a text, by the answers of the name head, (tokens, 6); words are taken whole, without "'s"."""
    chances, found = softmax(kinds), list[NameSpan]()
    for i, (start, end) in enumerate(spans):
        kind = int(chances[i].argmax())
        last = found[-1] if found else None
        if start == end:
            continue
        if start and (text[start - 1].isalnum() or text[start - 1] in _APOSTROPHES or text[start] in _APOSTROPHES):
            if last and last.end == start:
                found[-1] = replace(last, end=end)
        elif kind and last and last.kind == NAMES[kind] and text[last.end : start] in (" ", "-", ". "):
            found[-1] = replace(last, end=end)
        elif kind:
            found.append(NameSpan(start, end, NAMES[kind], float(chances[i, kind])))
    return tuple(replace(each, end=each.start + len(_bare(text[each.start : each.end]))) for each in found)


def _bare(name: str) -> str:
    return name.removesuffix("s").rstrip(_APOSTROPHES) if name[-2:-1] in _APOSTROPHES else name.rstrip(_APOSTROPHES)
