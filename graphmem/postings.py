"""Where words stand in a student's memories: SQLite's FTS5 in memory, which cuts, stems and posts them."""

import re
import sqlite3
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from graphmem.maths.ranking import Scores

TERMS = 64
"""Most words of a question that are searched, the rarest."""

# Written without spaces, so each character is searched as a word.
_DENSE = re.compile("([\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])")


class Words:
    """Where words stand, in a full-text table in memory that keeps no texts."""

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        tokenizer = "content='', tokenize='porter unicode61 remove_diacritics 2'"
        self._db.executescript(
            f"""
            PRAGMA temp_store = MEMORY; -- nothing opened may reach the disk
            CREATE VIRTUAL TABLE memory USING fts5(inside, ahead, {tokenizer});
            CREATE VIRTUAL TABLE place USING fts5vocab(memory, instance);
            CREATE VIRTUAL TABLE spread USING fts5vocab(memory, row);
            CREATE VIRTUAL TABLE question USING fts5(words, {tokenizer});
            CREATE VIRTUAL TABLE term USING fts5vocab(question, row);
            """
        )

    def add(self, rows: Iterable[int], texts: Iterable[tuple[str, str]]) -> None:
        """Add the texts of rows, each a memory and what was said before it."""
        self._db.execute("BEGIN")  # alone, each row would be merged into the postings by itself
        self._db.executemany(
            "INSERT INTO memory(rowid, inside, ahead) VALUES (?, ?, ?)",
            ((row, *_plain(*pair)) for row, pair in zip(rows, texts, strict=True)),
        )
        self._db.execute("COMMIT")

    def remove(self, row: int, texts: tuple[str, str]) -> None:
        """Needs the very texts that were added, since the table keeps none."""
        self._db.execute(
            "INSERT INTO memory(memory, rowid, inside, ahead) VALUES ('delete', ?, ?, ?)", (row, *_plain(*texts))
        )

    def terms(self, words: Iterable[str]) -> list[str]:
        """Stems of the words that occur in some memory, the rarest only."""
        self._db.execute("INSERT INTO question(words) VALUES (?)", _plain(" ".join(words)))
        found = self._db.execute("SELECT term FROM term").fetchall()
        self._db.execute("INSERT INTO question(question) VALUES ('delete-all')")
        spread = [self._db.execute("SELECT doc, term FROM spread WHERE term = ?", term).fetchone() for term in found]
        return [term for _, term in sorted(filter(None, spread))[:TERMS]]

    def find(self, term: str, allowed: NDArray[np.bool_]) -> tuple[Scores, Scores]:
        """How often a stem stands in the memory of each allowed row, and how often in what was said before it."""
        query = "SELECT group_concat(2 * doc + (col = 'ahead')) FROM place WHERE term = ?"
        (joined,) = self._db.execute(query, (term,)).fetchone()
        places = np.fromstring(joined or "", dtype=np.int64, sep=",")
        counts = np.bincount(places, minlength=2 * len(allowed)).reshape(-1, 2) * allowed[:, np.newaxis]
        return counts[:, 0].astype(float), counts[:, 1].astype(float)

    def close(self) -> None:
        self._db.close()


def _plain(*texts: str) -> tuple[str, ...]:
    # Half a surrogate pair cannot be written as UTF-8.
    return tuple(_DENSE.sub(r" \1 ", text.encode("utf-8", "replace").decode()) for text in texts)
