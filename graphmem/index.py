"""A student's memories, held in clear and searchable while the session is open (spec 10.1; nothing of it is on disk).

Meaning is compared exactly, by a cosine with every memory; words are found by SQLite's FTS5, which cuts, stems and
posts them in memory, and weighed here. `MemoryIndex` keeps the two in step; its `search` reads from top to bottom.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from graphmem.errors import InvalidInput
from graphmem.maths.ranking import Scores, around, best, bm25, cosines, neighbour, rarity, scaled
from graphmem.maths.sittings import Timeline, timeline, window
from graphmem.model import Matrix, Memory, Reliability, Vector
from graphmem.postings import Words

ALONE = 0.4
"""Cosine a memory needs that has no word in common with the question."""
AHEAD = 0.7
"""How much the vector of the memory before counts in what surrounds a memory."""
PARTS = {
    "dense": 1.0,
    "dense around": 1.0,
    "lexical": 0.5,
    "lexical around": 1.5,
    "speaker": 1.5,
    "sitting": 0.3,
    "question": -0.3,
    "time": 1.0,
    "next to": 0.4,
}
"""What each part of a score counts, each part being in [0, 1]. Set by hand, few digits: figures hardly move near by."""

_ROW = np.dtype(
    [
        ("held", bool),
        ("superseded", bool),
        ("question", bool),
        ("speaker", np.int64),  # place in the list of speakers; -1: the student
        ("at", float),  # seconds since 1970, like `until`
        ("until", float),
        ("inside", float),  # words of the memory
        ("ahead", float),  # words of what was said before it
        ("compared", np.int64),  # the row `likeness` is with; -2: not known
        ("likeness", float),
    ]
)
_FIRST_ROWS = 64
_WORD = re.compile(r"\w+")
_ASKS = re.compile(r"[?？]\W*(?:\[[^\]]*\]\s*)?$")


@dataclass(frozen=True)
class Query:
    """What is looked for.

    vector : embedding of the question, without the names of those who spoke
    words : its content words (`mind.asking.read_question` finds both)
    now : the moment of asking; what had ended by then is left out
    names : of those who spoke, the ones it names
    as_of : instead of now: what was held at that moment, superseded since or not
    ranges : spans of time it speaks of, from (included) and to (not)
    limit : most hits, >= 0
    """

    vector: Vector = field(repr=False)
    words: tuple[str, ...]
    now: datetime
    names: tuple[str, ...] = ()
    as_of: datetime | None = None
    ranges: tuple[tuple[datetime, datetime], ...] = ()
    limit: int = 20


@dataclass(frozen=True)
class Hit:
    """A memory that fits, how well (0..1), and what each part of the score gave, largest first."""

    memory: Memory
    relevance: float
    why: dict[str, float]


class MemoryIndex:
    """The search index of one student; several threads may use it.

    Parameters
    ----------
    dimension : int > 0, of the vectors

    Examples
    --------
    >>> index = MemoryIndex(384)
    >>> len(index), index.version, index.latest(3)
    (0, 0, [])
    >>> index.close()
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._lock = RLock()
        self.version = 0
        self._empty()

    def _empty(self) -> None:
        self._words = Words()
        self._vectors: Matrix = np.zeros((_FIRST_ROWS, self.dimension), dtype=np.float32)
        self._table: NDArray[np.void] = np.zeros(_FIRST_ROWS, dtype=_ROW)
        self._memories: list[Memory | None] = []
        self._row_of: dict[str, int] = {}
        self._free: list[int] = []
        self._by_time: list[tuple[float, str, int]] = []
        self._by_hash: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._by_slot: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._speakers: list[str] = []
        self._timeline: Timeline | None = None

    def __len__(self) -> int:
        return len(self._row_of)

    def close(self) -> None:
        """Drop everything; the index is empty afterwards."""
        with self._lock:
            self._words.close()
            self._empty()
            self.version += 1

    # Change

    def put(self, memory: Memory, vector: Vector) -> None:
        """Add a memory, or replace the one of the same id; see `put_many`."""
        self.put_many([memory], vector[np.newaxis])

    def put_many(self, memories: Sequence[Memory], vectors: Matrix) -> None:
        """Add memories, or replace those of the same ids.

        Parameters
        ----------
        memories : opened, that is with their content; of several with one id the last counts
        vectors : float32 array of shape (n, dimension), rows of length 1

        Raises
        ------
        InvalidInput                a memory without content, or vectors of another shape
        """
        if vectors.shape != (len(memories), self.dimension):
            wanted = (len(memories), self.dimension)
            raise InvalidInput(f"Vectors of shape {vectors.shape} do not fit: the index takes {wanted}.")
        if any(memory.content is None for memory in memories):
            raise InvalidInput("A sealed memory cannot be searched: open it with the student's key first.")
        last = {memory.id: place for place, memory in enumerate(memories)}
        with self._lock:
            self.remove(last)
            rows = [self._add(memories[place], vectors[place]) for place in last.values()]
            self._words.add(rows, [_texts(memories[place]) for place in last.values()])
            self._by_time.sort()
            self._forget_likeness(rows)

    def remove(self, ids: Iterable[str]) -> None:
        """Take memories out; ids that are not held are passed over."""
        with self._lock:
            self._forget_likeness([self._drop(known) for known in ids if known in self._row_of])
            self.version += 1

    def _add(self, memory: Memory, vector: Vector) -> int:
        row = self._free.pop() if self._free else len(self._memories)
        if row == len(self._memories):
            self._memories.append(None)
        if row == len(self._table):
            self._table = np.concatenate([self._table, np.zeros_like(self._table)])
            self._vectors = np.concatenate([self._vectors, np.zeros_like(self._vectors)])
        at = memory.timestamp.timestamp()
        inside, ahead = _texts(memory)
        self._vectors[row] = vector
        self._table[row] = (
            True,
            memory.reliability is Reliability.SUPERSEDED,
            bool(_ASKS.search(inside)),
            self._speaker(memory.speaker),
            at,
            memory.invalid_at.timestamp() if memory.invalid_at else np.inf,
            len(_WORD.findall(inside)),
            len(_WORD.findall(ahead)),
            -2,
            0.0,
        )
        self._memories[row] = memory
        self._row_of[memory.id] = row
        self._by_time.append((at, memory.id, row))
        self._by_hash[memory.content_hash][memory.id] = None
        if memory.slot_key is not None:
            self._by_slot[memory.slot_key][memory.id] = None
        return row

    def _drop(self, known: str) -> int:
        row = self._row_of.pop(known)
        memory = self._at(row)
        self._words.remove(row, _texts(memory))
        del self._by_time[bisect_left(self._by_time, (memory.timestamp.timestamp(), known, row))]
        _forget(self._by_hash, memory.content_hash, known)
        if memory.slot_key is not None:
            _forget(self._by_slot, memory.slot_key, known)
        self._memories[row] = None
        self._table[row] = np.zeros((), dtype=_ROW)
        self._vectors[row] = 0
        self._free.append(row)
        return row

    def _forget_likeness(self, rows: list[int]) -> None:
        self._timeline = None
        self._table["compared"][np.isin(self._table["compared"], rows)] = -2

    def _speaker(self, name: str | None) -> int:
        if not name:
            return -1
        if name not in self._speakers:
            self._speakers.append(name)
        return self._speakers.index(name)

    # Look up

    def get(self, known: str) -> Memory | None:
        """The memory of an id."""
        row = self._row_of.get(known)
        return None if row is None else self._memories[row]

    def vector(self, known: str) -> Vector | None:
        """The vector of an id's memory, of length 1."""
        row = self._row_of.get(known)
        return None if row is None else self._vectors[row].copy()

    def find(self, content_hash: str) -> Memory | None:
        """A memory of this very content."""
        return next((self.get(known) for known in self._by_hash.get(content_hash, ())), None)

    def of_slot(self, slot_key: str) -> list[Memory]:
        """Memories that could replace each other, oldest first."""
        with self._lock:
            memories = [self._at(self._row_of[known]) for known in self._by_slot.get(slot_key, ())]
        return sorted(memories, key=lambda memory: (memory.timestamp, memory.id))

    def latest(self, limit: int) -> list[Memory]:
        """The newest memories, newest first."""
        with self._lock:
            return [self._at(row) for _, _, row in reversed(self._by_time[max(0, len(self) - limit) :])]

    def before(self, at: datetime) -> Memory | None:
        """The last memory of a time earlier than a moment."""
        with self._lock:
            place = bisect_left(self._by_time, (at.timestamp(),))
            return self._at(self._by_time[place - 1][2]) if place else None

    def speakers(self) -> tuple[str, ...]:
        """Names of all who spoke, beside the student."""
        return tuple(self._speakers)

    def nearest(self, vector: Vector, limit: int) -> list[tuple[Memory, float]]:
        """The memories nearest in meaning, whatever their state, with their cosines, nearest first."""
        with self._lock:
            held = self._table["held"][: len(self._memories)]
            own = cosines(self._vectors[: len(held)], vector)
            rows = best(own, self._time().order, held, limit)
            return [(self._at(row), float(own[row])) for row in rows]

    # Search

    def search(self, query: Query) -> list[Hit]:
        """The memories that fit a question best, among those valid at the moment it asks about.

        Parameters
        ----------
        query : Query

        Returns
        -------
        list of Hit, best first, of equals the newer first; none by meaning alone (no word in common with it or what
        surrounds it, and not said by the one named) below a cosine of 0.4

        Raises
        ------
        InvalidInput                a vector of another dimension

        Source: spec 10.1.
        """
        if query.vector.shape != (self.dimension,):
            raise InvalidInput(f"A vector of shape {query.vector.shape} does not fit: the index has {self.dimension}.")
        with self._lock:
            allowed = self._allowed(query)
            own = np.where(allowed, cosines(self._vectors[: len(allowed)], query.vector), 0.0)
            parts = self._parts(query, allowed, own)
            total = sum((PARTS[name] * part for name, part in parts.items()), np.zeros(len(allowed)))
            relevance = np.clip(total / sum(w for w in PARTS.values() if w > 0), 0.0, 1.0)
            # What the one named said is not found by meaning alone.
            fits = allowed & ((parts["lexical around"] + parts["speaker"] > 0) | (own >= ALONE))
            rows = best(relevance, self._time().order, fits, query.limit)
            return [Hit(self._at(row), float(relevance[row]), _why(parts, row)) for row in rows]

    def _allowed(self, query: Query) -> NDArray[np.bool_]:
        table = self._table[: len(self._memories)]
        moment = (query.as_of or query.now).timestamp()
        allowed: NDArray[np.bool_] = table["held"] & (table["until"] > moment)
        return allowed & (table["at"] <= moment) if query.as_of else allowed & ~table["superseded"]

    def _parts(self, query: Query, allowed: NDArray[np.bool_], own: Scores) -> dict[str, Scores]:
        table, time = self._table[: len(allowed)], self._time()
        lexical, surrounding, sitting = self._lexical(query.words, allowed)
        parts = {
            "dense": scaled(own),
            "dense around": scaled(np.where(allowed, around(own, table["likeness"], time.before, AHEAD), 0.0)),
            "lexical": scaled(lexical),
            "lexical around": scaled(np.where(allowed, surrounding, 0.0)),
            "speaker": self._spoken_by(query.names),
            "sitting": sitting,
            "question": table["question"].astype(float),
            "time": _within(table["at"], query.ranges),
        }
        score = scaled(np.where(allowed, sum(PARTS[name] * part for name, part in parts.items()), 0.0))
        return parts | {"next to": (neighbour(score, time.before) + neighbour(score, time.after)) / 2}

    def _lexical(self, words: tuple[str, ...], allowed: NDArray[np.bool_]) -> tuple[Scores, Scores, Scores]:
        """BM25 of each memory, of what surrounds it, and of its whole sitting (scaled)."""
        time, lengths = self._time(), self._table["inside"][: len(allowed)]
        sittings = int(time.sitting.max(initial=-1)) + 1
        around_lengths = window(lengths, self._table["ahead"][: len(allowed)], time)
        sitting_lengths = np.bincount(time.sitting, lengths, sittings)
        sums = np.zeros(len(allowed)), np.zeros(len(allowed)), np.zeros(sittings)
        for term in self._words.terms(words):
            inside, ahead = self._words.find(term, allowed)
            idf = rarity(int(np.count_nonzero(inside)), len(self))
            sums[0][:] += idf * bm25(inside, lengths, lengths.sum() / len(self))
            sums[1][:] += idf * bm25(window(inside, ahead, time), around_lengths, around_lengths.sum() / len(self))
            said = np.bincount(time.sitting, inside, sittings)
            sums[2][:] += rarity(int(np.count_nonzero(said)), sittings) * bm25(
                said, sitting_lengths, lengths.sum() / sittings
            )
        return sums[0], sums[1], scaled(sums[2])[time.sitting]

    def _spoken_by(self, names: tuple[str, ...]) -> Scores:
        wanted = {name.casefold() for name in names}
        codes = [code for code, name in enumerate(self._speakers) if name.casefold() in wanted]
        speaker = self._table["speaker"][: len(self._memories)]
        # Who asks about two people wants what either said, and then the name tells nothing.
        return np.isin(speaker, codes).astype(float) if len(wanted) == 1 else np.zeros(len(speaker))

    def _time(self) -> Timeline:
        if self._timeline is None:
            self._timeline = self._compare(
                timeline(
                    np.fromiter((row for _, _, row in self._by_time), np.int64, len(self)),
                    np.fromiter((at for at, _, _ in self._by_time), float, len(self)),
                    len(self._memories),
                )
            )
        return self._timeline

    def _compare(self, time: Timeline) -> Timeline:
        """Bring `likeness` up to date, for the rows that have another memory before them than when last compared."""
        table = self._table[: len(time.before)]
        rows = np.flatnonzero((time.before >= 0) & (table["compared"] != time.before))
        before = time.before[rows]
        table["likeness"][rows] = np.einsum("ij,ij->i", self._vectors[rows], self._vectors[before])
        table["compared"][rows] = before
        return time

    def _at(self, row: int) -> Memory:
        memory = self._memories[row]
        assert memory is not None  # rows in use only
        return memory


def _texts(memory: Memory) -> tuple[str, str]:
    return memory.content or "", memory.before or ""


def _within(at: Scores, ranges: tuple[tuple[datetime, datetime], ...]) -> Scores:
    inside = np.zeros(len(at))
    for start, end in ranges:
        inside[(at >= start.timestamp()) & (at < end.timestamp())] = 1.0
    return inside


def _why(parts: dict[str, Scores], row: int) -> dict[str, float]:
    given = {name: float(PARTS[name] * part[row]) for name, part in parts.items()}
    return {name: value for name, value in sorted(given.items(), key=lambda item: -item[1]) if value > 0}


def _forget(ids: dict[str, dict[str, None]], key: str, known: str) -> None:
    del ids[key][known]
    if not ids[key]:
        del ids[key]
