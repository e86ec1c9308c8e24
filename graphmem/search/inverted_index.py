"""Where words stand in a student's memories: SQLite's FTS5 in memory, which cuts, stems and posts them."""

import re
import sqlite3
from collections.abc import Iterable, Sequence, Sized

import numpy as np
from numpy.typing import NDArray

from graphmem.search.scoring import Scores

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
        """Stems of the words; of very many only the rarest that occur in some memory."""
        self._db.execute("INSERT INTO question(words) VALUES (?)", _plain(" ".join(words)))
        found = [term for (term,) in self._db.execute("SELECT term FROM term")]
        self._db.execute("INSERT INTO question(question) VALUES ('delete-all')")
        if len(found) <= TERMS:
            return found
        query = f"SELECT doc, term FROM spread WHERE term IN ({_marks(found)})"  # noqa: S608 (question marks)
        spread = self._db.execute(query, found).fetchall()
        return [term for _, term in sorted(spread)[:TERMS]]

    def find(self, terms: Sequence[str], allowed: NDArray[np.bool_]) -> tuple[Scores, Scores]:
        """How often each stem stands in the memory of each allowed row, and how often in what was said before it.

        Two float arrays of shape (terms, rows).
        """
        query = (
            "SELECT term, group_concat(2 * doc + (col = 'ahead')) FROM place "  # noqa: S608 (question marks)
            f"WHERE term IN ({_marks(terms)}) GROUP BY term"
        )
        counts, place = np.zeros((len(terms), len(allowed), 2)), {term: i for i, term in enumerate(terms)}
        for term, joined in self._db.execute(query, terms):
            found = np.bincount(np.fromstring(joined, dtype=np.int64, sep=","), minlength=2 * len(allowed))
            counts[place[term]] = found.reshape(-1, 2)
        counts *= allowed[:, np.newaxis]
        return counts[..., 0], counts[..., 1]

    def close(self) -> None:
        self._db.close()


def _marks(values: Sized) -> str:
    return ", ".join("?" * len(values))


def _plain(*texts: str) -> tuple[str, ...]:
    # Half a surrogate pair cannot be written as UTF-8.
    return tuple(_DENSE.sub(r" \1 ", text.encode("utf-8", "replace").decode()) for text in texts)
