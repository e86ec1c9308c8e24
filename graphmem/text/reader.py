"""Reads a student's message in one pass: what it is worth, what sort it is, whether anybody is in danger.

One small network answers every question at once: it reads on from the lower layers of the shipped embedding model,
whose vector comes with it. `scripts/make_reader.py` makes it, and its figures stand beside it.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import accumulate
from pathlib import Path

import numpy as np

from graphmem.maths.chances import logistic, softmax
from graphmem.model import Domain, LedgerCategory, Matrix, MemoryKind, Modality, Vector
from graphmem.text.embedder import DIMENSION, BatchedEmbedder, ShippedNetwork, open_network, shipped_network

Tell = Callable[[str, Vector], None]
"""Told a text and its vector, before the reader's own layers have read it."""

READER_FOLDER = Path(__file__).with_name("weights") / "reader"
READER_BATCH = 16
"""Messages read one after the other before others that wait are looked at."""

BANDS = ("none", "one", "two", "three")
"""How much a message tells that is worth remembering, named by the passes it is read with."""
KINDS = (MemoryKind.CONCEPT, MemoryKind.EPISODE, MemoryKind.TRAIT)
MODALITIES = (Modality.SEMANTIC, Modality.EPISODIC, Modality.EMOTIONAL, Modality.PROCEDURAL, Modality.SENSORY)
LEDGER_CATEGORIES = (
    None,
    LedgerCategory.PROMISE,
    LedgerCategory.SECRET,
    LedgerCategory.DEBT,
    LedgerCategory.THREAT,
    LedgerCategory.FACT,
    LedgerCategory.INSTRUCTION,
    LedgerCategory.OBSERVATION,
)
CONCERNS = (
    "none",
    "self_harm",
    "abuse",
    "sexual_abuse",
    "violence",
    "threat_to_others",
    "neglect",
    "eating",
    "substance",
    "bullying",
    "other_danger",
)
DOMAINS = (Domain.SCHOOL, Domain.PERSONAL, Domain.RELATIONSHIPS, Domain.HOBBIES, Domain.HEALTH, Domain.OTHER)
HEADS = {
    "band": len(BANDS),
    "kind": len(KINDS),
    "modality": len(MODALITIES),
    "ledger": len(LEDGER_CATEGORIES),
    "lasting": 4,
    "about_self": 1,
    "valence": 1,
    "concern": len(CONCERNS),
    "urgency": 4,
    "about_other": 1,
    "domain": len(DOMAINS),
}
"""The questions in the order of the network's output, and how many numbers answer each."""
WIDTH = sum(HEADS.values())
_FIRST_OF = dict(zip(HEADS, accumulate(HEADS.values(), initial=0), strict=False))
PASSES = (100, 400, 800)
"""Scores from which a message is read once, twice and three times."""
MOST_PASSES = len(PASSES)
LASTING_MONTHS = 2
"""Place in `MessageReading.lasting` from which on something holds for months."""
SNR_BANDS = (0, *PASSES, 1000)
"""Scores at which the bands begin, and the highest."""
VECTOR_SCALE, LOGIT_SCALE = 2.0, 4.0
"""What a unit vector's numbers are multiplied by, and the network's output divided by, for further models."""


@dataclass(frozen=True, eq=False)
class MessageReading:
    """What a message tells, as probabilities.

    Each array is float32, its values in [0, 1] with sum 1, in the order of the constant that is named.

    Attributes
    ----------
    snr : int in 0..1000, how much worth remembering it tells: 100, 400 and 800 begin the bands (spec 7)
    band : shape (4,), `BANDS`
    kind : shape (3,), `KINDS`
    modality : shape (5,), `MODALITIES`
    ledger : shape (8,), `LEDGER_CATEGORIES`
    lasting : shape (4,): it holds for the moment, for days, for months, for good
    about_self : float in [0, 1], the chance that the student tells of their own
    valence : float in [-1, 1], what the speaker feels
    concern : shape (11,), `CONCERNS`
    urgency : shape (4,): none, worrying, serious, acute (spec 20)
    about_other : float in [0, 1], the chance that a danger is another's
    domain : shape (6,), `DOMAINS`
    logits : shape (WIDTH,), the network's output: before those of each question were made to sum to 1
    vector : shape (384,), the embedding by the shipped model
    """

    snr: int
    band: Vector
    kind: Vector
    modality: Vector
    ledger: Vector
    lasting: Vector
    about_self: float
    valence: float
    concern: Vector
    urgency: Vector
    about_other: float
    domain: Vector
    logits: Vector
    vector: Vector

    @property
    def passes(self) -> int:
        """Number of passes that formation reads the message with, 0 to 3 (spec 7)."""
        return passes(self.snr)

    @property
    def danger_logit(self) -> float:
        """Log odds that somebody is in danger."""
        own = self.logits[_FIRST_OF["concern"] :][: len(CONCERNS)]
        return float(np.logaddexp.reduce(own[1:]) - own[0])

    @property
    def likely_kind(self) -> MemoryKind:
        """The likeliest kind."""
        return KINDS[int(self.kind.argmax())]

    @property
    def likely_modality(self) -> Modality:
        """The likeliest modality."""
        return MODALITIES[int(self.modality.argmax())]

    @property
    def features(self) -> Vector:
        """What the reader makes of the message, and its vector, as further models read them; shape (WIDTH + 384,)."""
        return np.concatenate([self.logits / LOGIT_SCALE, VECTOR_SCALE * self.vector])


class ReaderNetwork:
    """The reader's own layers, on top of the shipped embedder's lower ones.

    Raises
    ------
    SetupError      a file is missing or damaged
    """

    def __init__(self, shipped: ShippedNetwork, threads: int, folder: Path = READER_FOLDER) -> None:
        self.cuts = read_cuts(folder)
        self._shipped = shipped
        self._session = open_network(folder, threads)

    def rows(self, texts: Sequence[str], tell: Tell = lambda _text, _vector: None) -> Matrix:
        """For each text its vector and the network's answers, shape (n, 384 + WIDTH); `tell` is called in between."""
        read = [self._row(text, tell) for text in texts]
        return np.concatenate([np.empty((0, DIMENSION + WIDTH), np.float32), *read])

    def _row(self, text: str, tell: Tell) -> Matrix:
        vector, hidden = self._shipped.seen(text)
        tell(text, vector[0])
        answers = self._session.run(None, {"hidden": hidden})[0]
        return np.concatenate([vector, answers], axis=1)


class MessageReader:
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
    >>> reader = MessageReader()
    >>> told, asked = asyncio.run(reader.read(["I'm dyslexic, so please read it out to me.", "ok"]))
    >>> told.band.shape, told.snr > asked.snr
    ((4,), True)
    >>> asyncio.run(reader.aclose())
    """

    def __init__(self, threads: int = 1) -> None:
        network = reader_network(threads)
        self._cuts = network.cuts
        self._early: dict[object, tuple[str, Callable[[Vector], object]]] = {}
        encode = partial(network.rows, tell=self._tell)
        self._encoder = BatchedEmbedder("reader", DIMENSION + WIDTH, encode, READER_BATCH)

    async def read(self, texts: Sequence[str], known: Mapping[str, object] | None = None) -> list[MessageReading]:
        """Read messages, each alone: what stands beside it changes nothing, so none is read a second time.

        Only the first 256 tokens of a message count; one without a letter or digit tells nothing.

        Parameters
        ----------
        texts : the messages
        known : readings there are already, by text

        Raises
        ------
        Unavailable     the reader has been closed
        """
        found = {text: reading for text, reading in (known or {}).items() if isinstance(reading, MessageReading)}
        unread = [text for text in dict.fromkeys(texts) if text not in found]
        if unread:
            read = _readings_of(unread, await self._encoder.embed(unread), self._cuts)
            found |= zip(unread, read, strict=True)
        return [found[text] for text in texts]

    async def read_early(self, text: str, early: asyncio.Future[Vector]) -> MessageReading:
        """Read one message, and tell its vector as soon as it is there: its own layers take as long again.

        Parameters
        ----------
        text : the message
        early : is given the vector, shape (384,); left as it is where the message cannot be read

        Raises
        ------
        Unavailable     the reader has been closed
        """
        loop, key = asyncio.get_running_loop(), object()
        self._early[key] = text, lambda vector: loop.call_soon_threadsafe(_tell_once, early, vector)
        try:
            (reading,) = await self.read([text])
        finally:
            del self._early[key]
        return reading

    async def aclose(self) -> None:
        """Finish what is queued, then release the thread; calling it again does nothing."""
        await self._encoder.aclose()

    def _tell(self, text: str, vector: Vector) -> None:
        """Tell the vector of a text to all who wait for it; on the reader's thread."""
        for awaited, tell in tuple(self._early.values()):
            if awaited == text:
                tell(vector)


def _tell_once(early: asyncio.Future[Vector], vector: Vector) -> None:
    if not early.done():
        early.set_result(vector)


def readings(rows: Matrix, cuts: Sequence[float]) -> list[MessageReading]:
    """The readings that rows of the network's output stand for.

    Parameters
    ----------
    rows : float32 array of shape (n, 384 + WIDTH), of `ReaderNetwork.rows`
    cuts : three numbers in (0, 3), rising: the expected band at which one, two and three begin
    """
    ends = np.cumsum(list(HEADS.values()))
    parts = dict(zip(HEADS, np.split(rows[:, DIMENSION:], ends[:-1], axis=1), strict=True))
    shares = {name: softmax(part) for name, part in parts.items() if HEADS[name] > 1}
    expected = shares["band"] @ np.arange(len(BANDS), dtype=np.float32)
    scores = np.interp(expected, (0.0, *cuts, len(BANDS) - 1.0), SNR_BANDS)
    about_self, about_other = (logistic(parts[name][:, 0]) for name in ("about_self", "about_other"))
    valence = np.tanh(parts["valence"][:, 0])
    return [
        MessageReading(
            snr=int(scores[i]),
            band=shares["band"][i],
            kind=shares["kind"][i],
            modality=shares["modality"][i],
            ledger=shares["ledger"][i],
            lasting=shares["lasting"][i],
            about_self=float(about_self[i]),
            valence=float(valence[i]),
            concern=shares["concern"][i],
            urgency=shares["urgency"][i],
            about_other=float(about_other[i]),
            domain=shares["domain"][i],
            logits=rows[i, DIMENSION:],
            vector=rows[i, :DIMENSION],
        )
        for i in range(len(rows))
    ]


def read_now(texts: Sequence[str]) -> list[MessageReading]:
    """The readings of texts, at once and on this thread: for scripts and examples."""
    network = reader_network(1)
    return _readings_of(texts, network.rows(texts), network.cuts)


@lru_cache(maxsize=2)
def reader_network(threads: int) -> ReaderNetwork:
    """The reader's network, loaded once a process."""
    return ReaderNetwork(shipped_network(threads), threads)


def generality(reading: MessageReading) -> float:
    """Return the chance that a statement tells something of the student's own that holds for months, in [0, 1]."""
    months = reading.lasting[LASTING_MONTHS:].sum() * reading.kind[KINDS.index(MemoryKind.TRAIT)]
    return float(months) * reading.about_self


def passes(snr: int) -> int:
    """Number of extraction passes over a message: 0 below 100, then 1, from 400 twice, from 800 three times.

    Examples
    --------
    >>> [passes(score) for score in (99, 100, 400, 800)]
    [0, 1, 2, 3]

    Source: spec 7.
    """
    return sum(snr >= least for least in PASSES)


def read_cuts(folder: Path) -> tuple[float, ...]:
    """The expected bands at which the bands begin, from the file beside the weights."""
    return tuple(json.loads((folder / "reader.json").read_text(encoding="utf-8"))["cuts"])


def _readings_of(texts: Sequence[str], rows: Matrix, cuts: Sequence[float]) -> list[MessageReading]:
    """The readings of texts; one without a letter or digit tells nothing."""
    read = zip(texts, readings(rows, cuts), strict=True)
    return [each if any(map(str.isalnum, text)) else replace(each, snr=0) for text, each in read]
