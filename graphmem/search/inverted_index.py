"""In-memory inverted index on SQLite's FTS5, which cuts, stems and posts words."""

import json
import re
import sqlite3
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from graphmem.search.scoring import Scores

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
