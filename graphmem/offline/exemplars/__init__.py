"""Real tutoring situations and what the student answered in each: what the offline mind predicts from.

Texts are in `<source>/situations.jsonl` beside their attribution and licence, vectors in `embeddings.npz`;
`scripts/train/samples.py` makes both.
"""

import json
import logging
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from graphmem.errors import SetupError
from graphmem.model import Matrix, Vector
from graphmem.ports import Embedder

FOLDER = Path(__file__).parent
SOURCES = ("mathdial", "cima", "bridge")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Situation:
    """Dialogue exemplar: the tutor's turn, the student's turn before (empty at the beginning), the student's answer."""

    dialogue_id: str
    asked: str
    before: str
    answer: str


@dataclass(frozen=True)
class Bank:
    """Situations with their vectors, row by row, by one embedder.

    `points` of shape (n, dimension) hold where a situation lies (`situation_point`), `answers`, of the same shape,
    what was answered; both read-only.
    """

    situations: tuple[Situation, ...]
    points: Matrix
    answers: Matrix

    def without(self, dialogue_ids: Collection[str]) -> "Bank":
        """The bank less all that comes from these dialogues, so that they can be measured.

        Examples
        --------
        >>> here = Situation("a", "What is 3 + 4?", "", "7")
        >>> point = np.ones((1, 1), dtype=np.float32)
        >>> Bank((here,), point, point).without({"a"}).situations
        ()
        """
        left_out = frozenset(dialogue_ids)
        rows = [i for i, situation in enumerate(self.situations) if situation.dialogue_id not in left_out]
        return Bank(tuple(self.situations[i] for i in rows), self.points[rows], self.answers[rows])

    def nearest(self, point: Vector, count: int) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """The rows of the most similar situations, and their cosine similarities, best first.

        Parameters
        ----------
        point : float32 array of shape (dimension,), of length 1
        count : int >= 1; fewer are returned by a smaller bank
        """
        similarities = self.points @ point
        if count < len(similarities):
            rows = np.argpartition(-similarities, count)[:count]
        else:
            rows = np.arange(len(similarities))
        rows = rows[np.lexsort((rows, -similarities[rows]))]
        return rows, similarities[rows]


def situation_point(asked: Matrix, before: Matrix) -> Matrix:
    """Embedding of situations: the normalised mean of the tutor's turn and the student's turn before.

    Parameters
    ----------
    asked, before : float32 arrays of shape (dimension,) or (n, dimension), rows of length 1, or 0 for nothing said

    Returns
    -------
    float32 array of the same shape, rows of length 1, or 0 where nothing was said at all
    """
    total = asked + before
    length = np.linalg.norm(total, axis=-1, keepdims=True)
    point: Matrix = np.divide(total, length, out=np.zeros_like(total), where=length > 1e-9)
    return point


def read_situations() -> tuple[Situation, ...]:
    """The situations that ship with graphmem, in a fixed order.

    Examples
    --------
    >>> 1000 <= len(read_situations()) <= 2500
    True
    """
    texts = [(FOLDER / source / "situations.jsonl").read_text(encoding="utf-8") for source in SOURCES]
    return tuple(Situation(**json.loads(line)) for text in texts for line in text.splitlines())


def checksum(situations: Sequence[Situation]) -> int:
    """A number that tells whether vectors belong to these texts."""
    return crc32(json.dumps([asdict(situation) for situation in situations]).encode())


async def embedded(situations: Sequence[Situation], embedder: Embedder) -> Bank:
    """A bank of these situations, each text embedded once."""
    texts = sorted({text for s in situations for text in (s.asked, s.before, s.answer) if text})
    row_of = {text: row for row, text in enumerate(texts)}
    vectors = np.vstack([await embedder.embed(texts), np.zeros((1, embedder.dimension), dtype=np.float32)])
    asked, before, answers = (
        vectors[[row_of.get(getattr(s, part), len(texts)) for s in situations]]
        for part in ("asked", "before", "answer")
    )
    return _bank(situations, situation_point(asked, before), answers)


async def load_bank(embedder: Embedder) -> Bank:
    """The shipped bank, in the vectors of this embedder.

    Where the shipped vectors are another embedder's, the bank is embedded anew, which takes some seconds.

    Raises
    ------
    SetupError      the shipped vectors do not belong to the shipped texts
    """
    situations = read_situations()
    with np.load(FOLDER / "embeddings.npz") as kept:
        if int(kept["checksum"]) != checksum(situations):
            raise SetupError(
                f"{FOLDER / 'embeddings.npz'} does not fit its texts: run python -m scripts.train samples."
            )
        if (str(kept["embedder"]), int(kept["dimension"])) == (embedder.name, embedder.dimension):
            return _bank(situations, *(_unit(kept[part].astype(np.float32)) for part in ("points", "answers")))
    log.info(
        "embedding %d situations with %s, as the shipped vectors are another model's", len(situations), embedder.name
    )
    return await embedded(situations, embedder)


def save_vectors(bank: Bank, embedder: Embedder) -> None:
    """Write the vectors of a bank beside its texts, in half precision."""
    np.savez_compressed(
        FOLDER / "embeddings.npz",
        points=bank.points.astype(np.float16),
        answers=bank.answers.astype(np.float16),
        embedder=np.array(embedder.name),
        dimension=np.array(embedder.dimension),
        checksum=np.array(checksum(bank.situations)),
    )


def _bank(situations: Sequence[Situation], points: Matrix, answers: Matrix) -> Bank:
    for array in (points, answers):
        array.setflags(write=False)
    return Bank(tuple(situations), points, answers)


def _unit(rows: Matrix) -> Matrix:
    """Half precision costs a little of the length, which is given back."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Matrix = np.divide(rows, length, out=np.zeros_like(rows), where=length > 1e-9)
    return unit
