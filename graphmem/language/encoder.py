"""Reads a message in one run: its vector, its statements with their scores, the names in it (spec 7).

The tower reads on from the lower layers of the shipped embedder, whose vector comes with it. Linear heads look at its
tokens: each alone for borders and names, pooled over the message and over each statement for the questions of
`heads.py`. `python -m scripts.train` makes it; its figures lie beside the weights.
"""

import asyncio
from collections.abc import Callable, Container, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from graphmem.errors import Unavailable
from graphmem.language.analysis import SNR_BANDS, MessageAnalysis, NameSpan, StatementSpan, entities_of
from graphmem.language.heads import BORDERS, MESSAGE, NAMES, TOKEN_MARKS, HeadScores
from graphmem.maths.chances import softmax
from graphmem.model import Entity, Matrix, Vector
from graphmem.text.embedder import ShippedNetwork, open_network, shipped_network
from graphmem.text.networks import opened_weights
from graphmem.text.words import sentence_spans

ENCODER_FOLDER = Path(__file__).with_name("weights") / "encoder"
_ENDS = frozenset(".!?…\n")
_APOSTROPHES = "'’"
_NAME_ENDS = f"{_APOSTROPHES} .,;:!?"
"""Marks that end no name."""
MOST_WORDS = 30
"""Most words of a statement that is joined of several parts."""
REST_WORDS = 4
"""Most words of a sentence that tells nothing, and belongs to the one before it."""
LEANS = 0.5
"""Chance from which a part means little without the one before it."""
_ALONE = frozenset({"question", *MESSAGE.heads["act"].labels[-3:]})
"""Acts whose parts stay apart: questions, greetings, goodbyes, thanks."""
Spans = Sequence[tuple[int, int]]
Tell = Callable[[Vector], object]
"""Told the vector of a text, before the tower has read it."""


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
            self._shown = file["shown"], file["shown_bias"]

    def analyse(self, text: str, tell: Tell = lambda _: None, *, joined: bool = True) -> MessageAnalysis:
        """Read a message, of which the first 256 tokens count; one without a letter or digit tells nothing.

        Parameters
        ----------
        text : str
        tell : given its vector, before the tower has read it
        joined : False leaves the parts of a sentence apart, as the border head tells them
        """
        vector, hidden, spans = self._shipped.seen_with_spans(text)
        tell(vector[0])
        lower, upper = hidden[0], self._session.run(None, {"hidden": hidden})[0][0]
        weight, bias = self._token
        answers = np.concatenate([lower, upper, token_marks(text, spans)], 1) @ weight.T + bias
        borders, kinds = np.split(answers, [len(BORDERS)], 1)
        borders[:, BORDERS.index("begin")] += self._eager
        sentences = sentence_spans(text)
        opens = {start for start, _ in sentences}
        parts = [self._told(spans, lower, upper, *each) for each in statement_tokens(text, spans, borders, opens)]
        together = joined_parts(text, parts, opens) if joined else [[part] for part in parts]
        statements = tuple(self._joined(spans, lower, upper, each) for each in together)
        seen = pooled(lower, upper)
        scores = self._scored(seen)
        snr = self._snr(scores) if any(map(str.isalnum, text)) else 0
        first = [i for i, (start, end) in enumerate(spans) if start < end <= sentences[0][1]] if sentences else []
        opening = pooled(lower[first], upper[first]) if first else seen
        return MessageAnalysis(text, vector[0], seen, opening, scores, snr, statements, named_spans(text, spans, kinds))

    def _told(self, spans: Spans, lower: Matrix, upper: Matrix, first: int, last: int) -> StatementSpan:
        """Return what the tokens of a span tell."""
        scores = self._scored(pooled(lower[first : last + 1], upper[first : last + 1]))
        return StatementSpan(spans[first][0], spans[last][1], scores, self._snr(scores))

    def _joined(self, spans: Spans, lower: Matrix, upper: Matrix, parts: Sequence[StatementSpan]) -> StatementSpan:
        """Return parts as one statement, which tells what it does as a whole, or what the part does that tells most."""
        start, end = parts[0].start, parts[-1].end
        inside = [i for i, (a, b) in enumerate(spans) if start <= a < b <= end]
        whole = self._told(spans, lower, upper, inside[0], inside[-1])
        most = max((whole, *parts), key=lambda each: each.snr)
        return replace(most, start=start, end=end)

    def shown(self, turn: MessageAnalysis, reply: MessageAnalysis | None) -> Vector:
        """Return the chances of `SHOWN` of a student's turn and of what the tutor said to it, where that is known."""
        weight, bias = self._shown
        return softmax(weight @ turn_of_work(turn, reply) + bias)

    def scores_of(self, text: str, parts: Spans) -> list[HeadScores]:
        """Return the scores of spans of a message, in one run; of one beyond what is read those of the message."""
        if not parts:
            return []
        hidden, spans = self._shipped.seen_tokens(text)
        lower, upper = hidden[0], self._session.run(None, {"hidden": hidden})[0][0]
        inside = ([i for i, (a, b) in enumerate(spans) if start <= a < b <= end] for start, end in parts)
        return [self._scored(pooled(lower[own or slice(None)], upper[own or slice(None)])) for own in inside]

    def _snr(self, scores: HeadScores) -> int:
        return int(np.interp(scores.expected("band"), (0.0, *self._cuts, 3.0), SNR_BANDS))

    def _scored(self, seen: Vector) -> HeadScores:
        weight, bias = self._message
        return HeadScores(weight @ seen + bias)


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
    >>> (found,) = asyncio.run(encoder.read(["i moved to Leeds. my cat ran away"]))
    >>> [found.text[each.start : each.end] for each in found.statements]
    ['i moved to Leeds.', 'my cat ran away']
    >>> asyncio.run(encoder.aclose())
    """

    def __init__(self, threads: int = 1) -> None:
        self._network = encoder_network(threads)
        self._thread = ThreadPoolExecutor(1, "encoder")

    async def read(self, texts: Sequence[str], known: Mapping[str, object] | None = None) -> list[MessageAnalysis]:
        """Read messages, each alone: what stands beside one changes nothing in it, and no text is read twice.

        Parameters
        ----------
        texts : the messages
        known : analyses that there are already, by text

        Raises
        ------
        Unavailable     the encoder has been closed
        """
        found = {text: each for text, each in (known or {}).items() if isinstance(each, MessageAnalysis)}
        for text in texts:
            if text not in found:
                found[text] = await self._read(text)
        return [found[text] for text in texts]

    async def read_early(self, text: str, early: asyncio.Future[Vector]) -> MessageAnalysis:
        """Read one message, and tell its vector as soon as it is there: the tower takes half as long again.

        Parameters
        ----------
        text : the message
        early : is given the vector, shape (384,); left as it is where the message cannot be read

        Raises
        ------
        Unavailable     the encoder has been closed
        """
        loop = asyncio.get_running_loop()
        return await self._read(text, lambda vector: loop.call_soon_threadsafe(_tell_once, early, vector))

    async def _read(self, text: str, tell: Tell = lambda _: None) -> MessageAnalysis:
        try:
            reading = asyncio.get_running_loop().run_in_executor(self._thread, self._network.analyse, text, tell)
        except RuntimeError as error:
            raise Unavailable("The encoder has been closed: this process is shutting down.") from error
        return await reading

    async def aclose(self) -> None:
        """Finish what is queued, then release the thread; calling it again does nothing."""
        await asyncio.to_thread(self._thread.shutdown)


def _tell_once(early: asyncio.Future[Vector], vector: Vector) -> None:
    if not early.done():
        early.set_result(vector)


def read_now(texts: Sequence[str]) -> list[MessageAnalysis]:
    """Read texts at once and on this thread: for scripts and examples."""
    return [encoder_network().analyse(text) for text in texts]


def named_in(text: str) -> tuple[Entity, ...]:
    """Return whom and what a text names, read on this thread."""
    return entities_of(encoder_network().analyse(text))


@lru_cache(maxsize=2)
def encoder_network(threads: int = 1) -> EncoderNetwork:
    """Return the network that ships, loaded once a process."""
    return EncoderNetwork(shipped_network(threads), threads)


def pooled(lower: Matrix, upper: Matrix) -> Vector:
    """Return what the heads look at of some tokens, by what the shared layers and the tower see of them."""
    return np.concatenate([lower.mean(0), upper.mean(0), upper.max(0)])


def turn_of_work(turn: MessageAnalysis, reply: MessageAnalysis | None) -> Vector:
    """Return what the head of `SHOWN` looks at: a turn, the reply, how it opens, and whether there is one."""
    told = [np.zeros(2 * len(turn.seen))] if reply is None else [reply.seen, reply.opening]
    return np.concatenate([turn.seen, *told, [reply is not None]], dtype=np.float32)


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


def joined_parts(text: str, parts: Sequence[StatementSpan], opens: Container[int]) -> list[list[StatementSpan]]:
    """Return which parts make a statement: those of a sentence, and what leans on them.

    A part alone reads like a fragment ("my knee hurts and"). A sentence is joined to the one before only where it means
    little alone. Questions, greetings and what would be longer than `MOST_WORDS` stay apart.

    Parameters
    ----------
    text : str
    parts : of it, in order
    opens : where sentences begin, in characters
    """
    found, closed = list[list[StatementSpan]](), True
    for part in parts:
        own = text[part.start : part.end]
        alone = part.scores.likely("act") in _ALONE or own.rstrip().endswith("?")
        rest = len(own.split()) <= REST_WORDS and part.scores.likely("worth") == "nothing"
        follows = part.start not in opens or rest or part.scores.chance("leans") >= LEANS
        if not closed and not alone and follows and len(text[found[-1][0].start : part.end].split()) <= MOST_WORDS:
            found[-1].append(part)
        else:
            found.append([part])
        closed = alone
    return found


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
            found.append(NameSpan(start, end, NAMES[kind], float(1 - chances[i, 0])))
    return tuple(replace(each, end=each.start + len(_bare(text[each.start : each.end]))) for each in found)


def _bare(name: str) -> str:
    name = name.rstrip(_NAME_ENDS)
    return name.removesuffix("s").rstrip(_NAME_ENDS) if name[-2:-1] in _APOSTROPHES else name
