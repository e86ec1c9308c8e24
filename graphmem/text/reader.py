"""Reads a passage for the detector of danger: it is still better there than the encoder, which reads all else.

One small network answers every question at once: it reads on from the lower layers of the shipped embedding model,
whose vector comes with it. `scripts/make_reader.py` makes it, and its figures stand beside it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

import numpy as np

from graphmem.language.analysis import BANDS, SNR_BANDS
from graphmem.maths.chances import logistic, softmax
from graphmem.model import Domain, LedgerCategory, Matrix, MemoryKind, Modality, Vector
from graphmem.text.embedder import DIMENSION, ShippedNetwork, open_network, shipped_network

READER_FOLDER = Path(__file__).with_name("weights") / "reader"

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
    def danger_logit(self) -> float:
        """Log odds that somebody is in danger."""
        own = self.logits[_FIRST_OF["concern"] :][: len(CONCERNS)]
        return float(np.logaddexp.reduce(own[1:]) - own[0])

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

    def rows(self, texts: Sequence[str]) -> Matrix:
        """For each text its vector and the network's answers, shape (n, 384 + WIDTH)."""
        read = [self._row(text) for text in texts]
        return np.concatenate([np.empty((0, DIMENSION + WIDTH), np.float32), *read])

    def _row(self, text: str) -> Matrix:
        vector, hidden = self._shipped.seen(text)
        answers = self._session.run(None, {"hidden": hidden})[0]
        return np.concatenate([vector, answers], axis=1)


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


def passage_readings(texts: Sequence[str]) -> list[MessageReading]:
    """The readings of texts, at once and on this thread: for scripts and examples."""
    network = reader_network(1)
    return _readings_of(texts, network.rows(texts), network.cuts)


@lru_cache(maxsize=2)
def reader_network(threads: int) -> ReaderNetwork:
    """The reader's network, loaded once a process."""
    return ReaderNetwork(shipped_network(threads), threads)


def read_cuts(folder: Path) -> tuple[float, ...]:
    """The expected bands at which the bands begin, from the file beside the weights."""
    return tuple(json.loads((folder / "reader.json").read_text(encoding="utf-8"))["cuts"])


def _readings_of(texts: Sequence[str], rows: Matrix, cuts: Sequence[float]) -> list[MessageReading]:
    """The readings of texts; one without a letter or digit tells nothing."""
    read = zip(texts, readings(rows, cuts), strict=True)
    return [each if any(map(str.isalnum, text)) else replace(each, snr=0) for text, each in read]
