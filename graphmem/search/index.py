"""A student's memories, held in clear and searchable while the session is open (spec 10.1; nothing of it is on disk).

Meaning is compared exactly, by a cosine with every memory; words are found by SQLite's FTS5, which cuts, stems and
posts them in memory, and weighed here. `SearchIndex` keeps the two in step; its `search` reads from top to bottom.
"""

import json
import re
import sqlite3
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from math import inf, nextafter
from threading import RLock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmem.errors import InvalidInput
from graphmem.maths.importance import SEGMENT_GAP
from graphmem.model import OF_A_SITTING, Matrix, Memory, MemoryRole, MergedStatement, Reliability, Standing, Vector
from graphmem.search.scoring import (
    SCORE_PARTS,
    Hit,
    LexicalScores,
    Rows,
    Scores,
    SearchQuery,
    best,
    bm25,
    cosines,
    inverse_frequency,
    neighbour,
    relevance,
    scaled,
    surrounding,
    why,
    within,
)
from graphmem.text.lexicon import TIME_WORDS

FURTHER = 0.5
"""Weight of a memory two places away in the window around a memory."""
TERMS = 64
"""Most words of a question that are searched, the rarest."""
SCHEMA = """
PRAGMA temp_store = MEMORY; -- nothing opened may reach the disk
CREATE VIRTUAL TABLE memory USING fts5(
  inside, ahead, content='', tokenize='porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE place USING fts5vocab(memory, instance);
CREATE VIRTUAL TABLE spread USING fts5vocab(memory, row);
CREATE VIRTUAL TABLE question USING fts5(words, content='', tokenize='porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE term USING fts5vocab(question, row);
"""
ADD = "INSERT INTO memory(rowid, inside, ahead) VALUES (?, ?, ?)"
REMOVE = "INSERT INTO memory(memory, rowid, inside, ahead) VALUES ('delete', ?, ?, ?)"
DOCUMENT_COUNTS = "SELECT doc, term FROM spread WHERE term IN (SELECT value FROM json_each(?))"
OCCURRENCES = """
SELECT term, group_concat(2 * doc + (col = 'ahead')) FROM place
WHERE term IN (SELECT value FROM json_each(?)) GROUP BY term
"""
# Written without spaces, so each character is searched as a word.
_UNSPACED = re.compile("([\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])")
MIN_DENSE_ONLY_COSINE = 0.4
"""Cosine a memory needs that has no word in common with the question."""
MAX_SNR = 1000
"""Greatest SNR of a message (spec 7)."""
PREVIOUS_WEIGHT = 0.7
"""Weight of the vector of the memory before in what surrounds a memory."""
FEEDBACK_MIN_LIMIT = 20
"""Most hits for which pseudo-relevance feedback is not worth the time it takes."""
FEEDBACK_DOCS = 8
"""Best memories whose words expand a question."""
FEEDBACK_TERMS = 20
"""Words that expand a question."""
FEEDBACK_WEIGHT = 0.4
"""Weight of a word that all of those memories hold, beside one of the question."""
_ROW = np.dtype(
    [
        ("held", bool),
        ("superseded", bool),
        ("question", bool),
        ("telling", float),  # how much the message it comes from says, in [0, 1]
        ("dated", bool),
        ("apart", bool),  # made of several things said
        ("role", np.int64),  # place in the list of roles
        ("speaker", np.int64),  # place in the list of speakers; -1: the student
        ("at", float),  # seconds since 1970, like `until`
        ("until", float),
        ("inside", float),  # words of the memory
        ("ahead", float),  # words of what was said before it
        ("compared", np.int64),  # the row `likeness` is with; -2: not known
        ("likeness", float),
    ]
)
_Key = tuple[str, str]
"""What memories are looked up by, `hash`, `slot` or `word`, and its value."""
_ROLES = {role: place for place, role in enumerate(MemoryRole)}
_NO_MOMENT = OF_A_SITTING | {MemoryRole.PROCEDURE}
"""Roles of memories that are no moment of the talk."""
_FIRST_ROWS = 64
MEMORY_BYTES = 3000
"""Bytes of a memory beside its vector and its texts: the object, its places in the tables."""
STATEMENT_BYTES = 1000
"""Bytes of a statement of a summary beside its vector, which is there twice."""
WORD_BYTES = 48
"""Bytes of a word of a text: the text itself and its postings."""
_ANY_WORD = re.compile(r"\w+")
_ENDS_ASKING = re.compile(r"[?？]\W*(?:\[[^\]]*\]\s*)?$")


def feedback_terms(
    docs: Sequence[Collection[str]],
    query: Iterable[str],
    postings: Mapping[str, Collection[int]],
    total: int,
    limit: int,
) -> dict[str, float]:
    """Terms that many of the best memories hold and few others do, with their weights.

    Parameters
    ----------
    docs : the distinct words of each of the best memories, in lower case
    query : words of the question, which are left out
    postings : the memories that hold a word, for every word of `docs`
    total : int, memories there are
    limit : int >= 0, terms wanted

    Returns
    -------
    dict of at most `limit` words that two of `docs` hold, greatest weight first, of equals by the alphabet: the share
    of `docs` that hold it times its rarity (`scoring.rarity`), above 0

    Source: pseudo relevance feedback, after Lavrenko and Croft 2001, Relevance-based language models.

    Examples
    --------
    >>> docs = [{"the", "guitar", "strings"}, {"the", "guitar", "shop"}]
    >>> postings = {"the": range(90), "guitar": range(5), "strings": range(5), "shop": range(1)}
    >>> terms = feedback_terms(docs, ["shop"], postings, total=100, limit=2)
    >>> {word: round(weight, 2) for word, weight in terms.items()}
    {'guitar': 2.91, 'the': 0.11}
    """
    counts = Counter(chain.from_iterable(docs))
    for word in query:
        counts.pop(word.lower(), None)
    words = [word for word in counts if counts[word] > 1]
    idf = inverse_frequency(np.array([len(postings[word]) for word in words], dtype=np.int64), total)
    weights = {word: counts[word] / len(docs) * float(each) for word, each in zip(words, idf, strict=True)}
    return {word: weights[word] for word in sorted(weights, key=lambda word: (-weights[word], word))[:limit]}


class Timeline(NamedTuple):
    """Per row: its place in time, the rows before and after in the same session (-1: none), and the session."""

    order: Rows
    before: Rows
    after: Rows
    sitting: Rows


def timeline(rows: Rows, at: Scores, apart: NDArray[np.bool_], size: int) -> Timeline:
    """Return the timeline of some memories.

    Parameters
    ----------
    rows : int array of shape (n,), in order of time
    at : float array of shape (n,), their times in seconds, ascending
    apart : bool array of shape (n,): true of memories made of several statements, which have no neighbours: words
        would be counted twice
    size : int, number of rows; rows not in `rows` get -1, and session 0

    Examples
    --------
    >>> time = timeline(np.array([2, 0, 1]), np.array([0.0, 60.0, 90.0]), np.array([False, True, False]), size=3)
    >>> time.before.tolist(), time.sitting.tolist()
    ([-1, 2, -1], [0, 0, 0])
    """
    order, before, after = (np.full(size, -1, dtype=np.int64) for _ in range(3))
    sitting = np.zeros(size, dtype=np.int64)
    order[rows] = np.arange(len(rows))
    sitting[rows] = np.concatenate([[0], np.cumsum(np.diff(at) >= SEGMENT_GAP)])[: len(rows)]
    linked = rows[~apart]
    together = np.diff(at[~apart]) < SEGMENT_GAP
    before[linked[1:][together]] = linked[:-1][together]
    after[linked[:-1][together]] = linked[1:][together]
    return Timeline(order, before, after, sitting)


def window(inside: Scores, ahead: Scores, time: Timeline) -> Scores:
    """Return an amount summed over the window around each memory.

    Parameters
    ----------
    inside : float array of shape (..., n), the amount in each memory
    ahead : float array of shape (..., n), the amount in the message just before each, by any author
    time : Timeline of n rows

    Returns
    -------
    float array of shape (..., n): in it, before it and in the next memory, and by half in memories two away

    Examples
    --------
    >>> time = timeline(np.arange(3), np.zeros(3), np.zeros(3, dtype=bool), size=3)
    >>> window(np.array([0.0, 0.0, 1.0]), np.zeros(3), time).tolist()
    [0.5, 1.0, 1.0]
    """
    after = neighbour(inside, time.after)
    further = neighbour(ahead, time.before) + neighbour(after, time.after)
    return inside + ahead + after + FURTHER * further


class InvertedIndex:
    """Terms and where they stand, in a full-text table in memory that keeps no texts."""

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._db.executescript(SCHEMA)

    def add(self, rows: Iterable[int], texts: Iterable[tuple[str, str]]) -> None:
        """Add the texts of rows, each a memory and the message before it."""
        self._db.execute("BEGIN")  # alone, each row would be merged into the postings by itself
        self._db.executemany(ADD, ((row, *_storable(*pair)) for row, pair in zip(rows, texts, strict=True)))
        self._db.execute("COMMIT")

    def remove(self, row: int, texts: tuple[str, str]) -> None:
        """Needs the very texts that were added, since the table keeps none."""
        self._db.execute(REMOVE, (row, *_storable(*texts)))

    def terms(self, words: Iterable[str]) -> list[str]:
        """Stems of the words; of very many only the rarest that occur in some memory."""
        self._db.execute("INSERT INTO question(words) VALUES (?)", _storable(" ".join(words)))
        found = [term for (term,) in self._db.execute("SELECT term FROM term")]
        self._db.execute("INSERT INTO question(question) VALUES ('delete-all')")
        if len(found) <= TERMS:
            return found
        counts = self._db.execute(DOCUMENT_COUNTS, (json.dumps(found),)).fetchall()
        return [term for _, term in sorted(counts)[:TERMS]]

    def holds(self, words: str) -> bool:
        """True if every one of some words occurs in some memory."""
        terms = self.terms([words])
        return bool(terms) and len(self._db.execute(DOCUMENT_COUNTS, (json.dumps(terms),)).fetchall()) == len(terms)

    def find(self, terms: Sequence[str], allowed: NDArray[np.bool_]) -> tuple[Scores, Scores]:
        """Return term frequencies of each stem in the memory of each allowed row, and in the message before it.

        Two float arrays of shape (terms, rows).
        """
        counts, place = np.zeros((len(terms), len(allowed), 2)), {term: i for i, term in enumerate(terms)}
        for term, joined in self._db.execute(OCCURRENCES, (json.dumps(terms),)):
            found = np.bincount(np.fromstring(joined, dtype=np.int64, sep=","), minlength=2 * len(allowed))
            counts[place[term]] = found.reshape(-1, 2)
        counts *= allowed[:, np.newaxis]
        return counts[..., 0], counts[..., 1]


def _storable(*texts: str) -> tuple[str, ...]:
    # Half a surrogate pair cannot be written as UTF-8.
    return tuple(_UNSPACED.sub(r" \1 ", text.encode("utf-8", "replace").decode()) for text in texts)


class SearchIndex:
    """The search index of one student; several threads may use it.

    Parameters
    ----------
    dimension : int > 0, of the vectors

    Examples
    --------
    >>> index = SearchIndex(384)
    >>> len(index), index.latest(3)
    (0, [])
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._lock = RLock()
        self._words = InvertedIndex()
        self._vectors: Matrix = np.zeros((_FIRST_ROWS, self.dimension), dtype=np.float32)
        self._table: NDArray[np.void] = np.zeros(_FIRST_ROWS, dtype=_ROW)
        self._memories: list[Memory | None] = []
        self._row_of: dict[str, int] = {}
        self._free: list[int] = []
        self._by_time: list[tuple[float, str, int]] = []
        self._rows_by: defaultdict[_Key, dict[int, None]] = defaultdict(dict)
        self._speakers: list[str] = []
        # Statements of summaries by id, with their rows, ids of the embedded ones, their vectors; None: to be gathered.
        self._statements: tuple[dict[str, tuple[int, MergedStatement]], list[str], Matrix] | None = None
        # None when it has to be built anew, and likeness to the memory before to be brought up to date.
        self._timeline: Timeline | None = None

    def __len__(self) -> int:
        return len(self._row_of)

    @property
    def nbytes(self) -> int:
        """About the bytes it takes: arrays, texts, postings."""
        with self._lock:
            parts = len(self._merged()[0]) * (STATEMENT_BYTES + 8 * self.dimension)
            words = WORD_BYTES * int(self._table["inside"].sum() + self._table["ahead"].sum())
            return self._vectors.nbytes + self._table.nbytes + words + len(self) * MEMORY_BYTES + parts

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
        last = {memory.id: (memory, vectors[place]) for place, memory in enumerate(memories)}
        with self._lock:
            self.remove(last)
            rows = {known: self._free_row() for known in last}
            for known, (memory, vector) in last.items():
                self._fill(rows[known], memory, vector)
            self._words.add(rows.values(), [_searched_texts(memory) for memory, _ in last.values()])
            self._by_time += [_time_key(memory, rows[known]) for known, (memory, _) in last.items()]
            self._by_time.sort()

    def renew(self, standings: Iterable[Standing]) -> None:
        """Update the standings of held memories; unknown ids are skipped."""
        with self._lock:
            for memory_id, gravity, last_accessed, access_count in standings:
                row = self._row_of.get(memory_id)
                if row is not None:
                    self._memories[row] = replace(
                        self._at(row), gravity=gravity, last_accessed=last_accessed, access_count=access_count
                    )

    def remove(self, ids: Iterable[str]) -> None:
        """Take memories out; ids that are not held are passed over."""
        with self._lock:
            rows = [self._drop(known) for known in ids if known in self._row_of]
            self._table["compared"][np.isin(self._table["compared"], rows)] = -2
            self._timeline = self._statements = None

    def _free_row(self) -> int:
        row = self._free.pop() if self._free else len(self._memories)
        if row == len(self._memories):
            self._memories.append(None)
        if row == len(self._table):
            self._table = np.concatenate([self._table, np.zeros_like(self._table)])
            self._vectors = np.concatenate([self._vectors, np.zeros_like(self._vectors)])
        return row

    def _fill(self, row: int, memory: Memory, vector: Vector) -> None:
        at = memory.timestamp.timestamp()
        inside, ahead = _searched_texts(memory)
        for key in _lookup_keys(memory):
            self._rows_by[key][row] = None
        self._vectors[row] = vector
        self._table[row] = (
            True,
            memory.reliability is Reliability.SUPERSEDED,
            bool(_ENDS_ASKING.search(inside)),
            memory.snr / MAX_SNR,
            not TIME_WORDS.isdisjoint(_distinct(memory)),
            memory.role in _NO_MOMENT,
            _ROLES[memory.role],
            self._speaker(memory.speaker),
            at,
            memory.invalid_at.timestamp() if memory.invalid_at else np.inf,
            len(_ANY_WORD.findall(inside)),
            len(_ANY_WORD.findall(ahead)),
            -2,
            0.0,
        )
        self._memories[row] = memory
        self._row_of[memory.id] = row

    def _drop(self, known: str) -> int:
        row = self._row_of.pop(known)
        memory = self._at(row)
        del self._by_time[bisect_left(self._by_time, _time_key(memory, row))]
        self._words.remove(row, _searched_texts(memory))
        for key in _lookup_keys(memory):
            del self._rows_by[key][row]
            if not self._rows_by[key]:
                del self._rows_by[key]
        self._memories[row] = None
        self._table[row] = np.zeros((), dtype=_ROW)
        self._vectors[row] = 0
        self._free.append(row)
        return row

    def _speaker(self, name: str | None) -> int:
        if not name:
            return -1
        if name not in self._speakers:
            self._speakers.append(name)
        return self._speakers.index(name)

    # Look up

    def get(self, known: str) -> Memory | None:
        """The memory of an id."""
        with self._lock:
            row = self._row_of.get(known)
            return None if row is None else self._memories[row]

    def vector(self, known: str) -> Vector | None:
        """The vector of an id's memory, of length 1."""
        with self._lock:
            row = self._row_of.get(known)
            return None if row is None else self._vectors[row].copy()

    def find(self, content_hash: str) -> Memory | None:
        """A memory of this very content, or a summary that one became part of."""
        with self._lock:
            return next((self._at(row) for row in self._rows_by.get(("hash", content_hash), ())), None)

    def of_slot(self, slot_key: str) -> list[Memory]:
        """Memories that could replace each other, oldest first."""
        with self._lock:
            memories = [self._at(row) for row in self._rows_by.get(("slot", slot_key), ())]
        return sorted(memories, key=lambda memory: (memory.timestamp, memory.id))

    def statement(self, known: str) -> tuple[Memory, MergedStatement] | None:
        """The summary that holds a statement, and the statement, by the statement's id."""
        with self._lock:
            found = self._merged()[0].get(known)
            return None if found is None else (self._at(found[0]), found[1])

    def statements_of_slot(self, slot_key: str) -> list[tuple[Memory, MergedStatement]]:
        """Statements of summaries that could be replaced by another of their slot, oldest first."""
        with self._lock:
            found = [(self._at(row), each) for row, each in self._merged()[0].values() if each.slot_key == slot_key]
        return sorted(found, key=lambda pair: (pair[1].at, pair[1].id))

    def nearest_statements(self, vector: Vector, limit: int) -> list[tuple[Memory, MergedStatement, float]]:
        """The statements of summaries nearest in meaning, with their summaries and cosines, nearest first."""
        with self._lock:
            statements, ids, matrix = self._merged()
            own = matrix @ vector
            chosen = np.argsort(-own, kind="stable")[:limit]
            found = [(*statements[ids[i]], float(own[i])) for i in chosen]
            return [(self._at(row), each, cosine) for row, each, cosine in found]

    def _merged(self) -> tuple[dict[str, tuple[int, MergedStatement]], list[str], Matrix]:
        if self._statements is None:
            rows = [(row, memory) for row, memory in enumerate(self._memories) if memory is not None]
            found = {each.id: (row, each) for row, memory in rows for each in memory.statements}
            vectors = {i: each.vector for i, (_, each) in found.items() if each.vector is not None}
            matrix = np.stack(list(vectors.values())) if vectors else np.zeros((0, self.dimension), dtype=np.float32)
            self._statements = found, list(vectors), matrix
        return self._statements

    def latest(self, limit: int) -> list[Memory]:
        """The newest memories, newest first."""
        with self._lock:
            return [self._at(row) for _, _, row in reversed(self._by_time[max(0, len(self) - limit) :])]

    def drawn(self, limit: int, seed: int) -> list[Memory]:
        """Memories drawn by lot, no two alike; the same seed draws the same ones of the same memories."""
        with self._lock:
            places = np.random.default_rng(seed).integers(0, max(1, len(self)), limit) if len(self) else ()
            return [self._at(self._by_time[place][2]) for place in dict.fromkeys(int(p) for p in places)]

    def before(self, at: datetime) -> Memory | None:
        """The last memory of a time earlier than a moment."""
        with self._lock:
            place = bisect_left(self._by_time, (at.timestamp(),))
            return self._at(self._by_time[place - 1][2]) if place else None

    def told_at(self, at: datetime) -> list[Memory]:
        """Return the memories whose timestamp is a moment."""
        with self._lock:
            first, after = (
                bisect_left(self._by_time, (edge,)) for edge in (at.timestamp(), nextafter(at.timestamp(), inf))
            )
            return [self._at(row) for _, _, row in self._by_time[first:after]]

    def speakers(self) -> tuple[str, ...]:
        """Names of all who spoke, beside the student."""
        with self._lock:
            return tuple(self._speakers)

    def holds(self, name: str) -> bool:
        """True if every word of a name occurs in some memory."""
        with self._lock:
            return self._words.holds(name)

    def nearest(self, vector: Vector, limit: int) -> list[tuple[Memory, float]]:
        """The memories nearest in meaning, whatever their state, with their cosines, nearest first."""
        with self._lock:
            held = self._table["held"][: len(self._memories)]
            own = cosines(self._vectors[: len(held)], vector)
            rows = best(own, self._time().order, held, limit)
            return [(self._at(row), float(own[row])) for row in rows]

    def nearest_to(self, known: str, limit: int) -> list[tuple[Memory, float]]:
        """The memories nearest in meaning to one of them, itself left out."""
        vector = self.vector(known)
        near = [] if vector is None else self.nearest(vector, limit + 1)
        return [(memory, cosine) for memory, cosine in near if memory.id != known][:limit]

    # Search

    def search(self, query: SearchQuery) -> list[Hit]:
        """The memories that fit a question best, among those valid at the moment it asks about.

        Parameters
        ----------
        query : SearchQuery

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
            lexical = self._lexical(query.words, allowed)
            own = np.where(allowed, cosines(self._vectors[: len(allowed)], query.vector), 0.0)
            parts = self._parts(query, lexical, allowed, own)
            # A named speaker's memories are not found by meaning alone.
            fits = allowed & ((parts["lexical around"] + parts["speaker"] > 0) | (own >= MIN_DENSE_ONLY_COSINE))
            if query.limit > FEEDBACK_MIN_LIMIT:
                docs = best(relevance(parts), self._time().order, fits, FEEDBACK_DOCS)
                parts = self._parts(query, self._with_feedback(query.words, lexical, docs, allowed), allowed, own)
            fitness = relevance(parts)
            rows = best(fitness, self._time().order, fits, query.limit)
            return [Hit(self._at(row), float(fitness[row]), why(parts, row)) for row in rows]

    def _allowed(self, query: SearchQuery) -> NDArray[np.bool_]:
        table = self._table[: len(self._memories)]
        moment = (query.as_of or query.now).timestamp()
        allowed: NDArray[np.bool_] = table["held"] & (table["until"] > moment)
        if query.roles:
            allowed = allowed & np.isin(table["role"], [_ROLES[role] for role in query.roles])
        return allowed & (~table["superseded"] if query.as_of is None else table["at"] <= moment)

    def _parts(
        self, query: SearchQuery, lexical: LexicalScores, allowed: NDArray[np.bool_], own: Scores
    ) -> dict[str, Scores]:
        table, time = self._table[: len(allowed)], self._time()
        parts = {
            "dense": scaled(own),
            "dense around": scaled(
                np.where(allowed, surrounding(own, table["likeness"], time.before, PREVIOUS_WEIGHT), 0.0)
            ),
            "lexical": scaled(lexical.inside),
            "lexical around": scaled(np.where(allowed, lexical.around, 0.0)),
            "speaker": self._spoken_by(query.names),
            "sitting": lexical.sitting,
            "question": table["question"].astype(float),
            "time": within(table["at"], query.ranges),
        }
        score = scaled(np.where(allowed, sum(SCORE_PARTS[name] * part for name, part in parts.items()), 0.0))
        # An informative memory does not raise its neighbours.
        return parts | {
            "next to": (neighbour(score, time.before) + neighbour(score, time.after)) / 2,
            "telling": table["telling"],
            "dated": table["dated"].astype(float),
        }

    def _lexical(self, words: tuple[str, ...], allowed: NDArray[np.bool_]) -> LexicalScores:
        terms = self._words.terms(words)
        if not terms or not len(self):
            nothing = np.zeros(len(allowed))
            return LexicalScores(nothing, nothing, nothing)
        time, lengths = self._time(), self._table["inside"][: len(allowed)]
        sittings = int(time.sitting.max(initial=-1)) + 1
        around_lengths = window(lengths, self._table["ahead"][: len(allowed)], time)
        sitting_lengths = np.bincount(time.sitting, lengths, sittings)
        inside, ahead = self._words.find(terms, allowed)
        said = np.array([np.bincount(time.sitting, counts, sittings) for counts in inside])
        idf = inverse_frequency(np.count_nonzero(inside, axis=1), len(self))
        within = inverse_frequency(np.count_nonzero(said, axis=1), sittings) @ bm25(
            said, sitting_lengths, lengths.sum() / sittings
        )
        return LexicalScores(
            idf @ bm25(inside, lengths, lengths.sum() / len(self)),
            idf @ bm25(window(inside, ahead, time), around_lengths, around_lengths.sum() / len(self)),
            scaled(within)[time.sitting],
        )

    def _with_feedback(
        self, asked: Sequence[str], lexical: LexicalScores, docs: list[int], allowed: NDArray[np.bool_]
    ) -> LexicalScores:
        """The same, as if the words its best memories share had been asked for too, at less weight."""
        words = [_distinct(self._at(row)) for row in docs]
        said = np.zeros(len(allowed))
        postings = {word: list(self._rows_by["word", word]) for word in set().union(*words)}
        terms = feedback_terms(words, asked, postings, len(self), FEEDBACK_TERMS)
        for word, weight in terms.items():
            said[postings[word]] += FEEDBACK_WEIGHT * weight
        said *= allowed
        time, lengths = self._time(), self._table["inside"][: len(allowed)]
        around_lengths = window(lengths, self._table["ahead"][: len(allowed)], time)
        surrounding = window(said, neighbour(said, time.before), time)
        once, total = np.ones(len(allowed)), max(1, len(self))
        return lexical._replace(
            inside=lexical.inside + said * bm25(once, lengths, lengths.sum() / total),
            around=lexical.around + surrounding * bm25(once, around_lengths, around_lengths.sum() / total),
        )

    def _spoken_by(self, names: tuple[str, ...]) -> Scores:
        wanted = {name.casefold() for name in names}
        codes = [code for code, name in enumerate(self._speakers) if name.casefold() in wanted]
        speaker = self._table["speaker"][: len(self._memories)]
        # Who asks about two people wants what either said, and then the name tells nothing.
        return np.isin(speaker, codes).astype(float) if len(wanted) == 1 else np.zeros(len(speaker))

    def _time(self) -> Timeline:
        if self._timeline is None:
            rows = np.fromiter((row for _, _, row in self._by_time), np.int64, len(self))
            held = self._table[rows]
            self._timeline = timeline(rows, held["at"], held["apart"], len(self._memories))
            self._compare(self._timeline)
        return self._timeline

    def _compare(self, time: Timeline) -> None:
        """Bring `likeness` up to date, for the rows that have another memory before them than when last compared."""
        table = self._table[: len(time.before)]
        rows = np.flatnonzero((time.before >= 0) & (table["compared"] != time.before))
        before = time.before[rows]
        table["likeness"][rows] = np.einsum("ij,ij->i", self._vectors[rows], self._vectors[before])
        table["compared"][rows] = before

    def _at(self, row: int) -> Memory:
        memory = self._memories[row]
        assert memory is not None  # rows in use only
        return memory


def _distinct(memory: Memory) -> set[str]:
    return set(_ANY_WORD.findall(memory.words.lower()))


def _lookup_keys(memory: Memory) -> set[_Key]:
    """Everything that a memory is looked up by."""
    hashes = [("hash", each) for each in (memory.content_hash, *(part.content_hash for part in memory.statements))]
    slot = [] if memory.slot_key is None else [("slot", memory.slot_key)]
    return {*hashes, *slot, *(("word", word) for word in _distinct(memory))}


def _time_key(memory: Memory, row: int) -> tuple[float, str, int]:
    """Position of a memory in time, as a sort key."""
    return memory.timestamp.timestamp(), memory.id, row


def _searched_texts(memory: Memory) -> tuple[str, str]:
    return memory.words, memory.before or ""
