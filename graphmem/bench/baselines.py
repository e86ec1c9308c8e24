"""Plain search to compare with: exact cosine, SQLite's BM25, and both fused by rank."""

import asyncio
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphmem.model import Matrix, Vector
from graphmem.settings import Settings
from graphmem.text.embedder import make_embedder

Embed = Callable[[Sequence[str]], Matrix]
Ranks = list[int]
"""Places of texts, best first."""
METHODS = ("cosine", "bm25", "fusion")
FUSION_K = 60

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Plain:
    """Texts that are searched, with their embeddings."""

    texts: tuple[str, ...]
    vectors: Matrix

    def cosine(self, vector: Vector) -> Ranks:
        """Every text, by likeness of meaning."""
        return [int(i) for i in np.argsort(-(self.vectors @ vector), kind="stable")]

    def bm25(self, question: str) -> Ranks:
        """Texts that share a word with the question, by BM25 as SQLite's FTS5 computes it, with Porter's stemmer."""
        words = dict.fromkeys(word.lower() for word in _WORD.findall(question))
        if not words:
            return []
        # Opened per question, since a connection belongs to one thread; filling it takes a few milliseconds.
        with closing(sqlite3.connect(":memory:")) as found:
            found.execute("CREATE VIRTUAL TABLE said USING fts5(text, tokenize='porter unicode61')")
            found.executemany("INSERT INTO said(rowid, text) VALUES (?, ?)", list(enumerate(self.texts)))
            match = " OR ".join(f'"{word}"' for word in words)
            rows = found.execute("SELECT rowid FROM said WHERE said MATCH ? ORDER BY bm25(said), rowid", (match,))
            return [int(rowid) for (rowid,) in rows]

    def ranks(self, question: str, vector: Vector) -> dict[str, Ranks]:
        """Rankings by each baseline method, best first."""
        cosine, bm25 = self.cosine(vector), self.bm25(question)
        return {"cosine": cosine, "bm25": bm25, "fusion": fused([cosine, bm25], len(self.texts))}


@contextmanager
def embedding(settings: Settings) -> Iterator[Embed]:
    """The embedder the service has, for code that is not async."""
    embedder = make_embedder(settings)
    with asyncio.Runner() as runner:
        try:
            yield lambda texts: runner.run(embedder.embed(texts))
        finally:
            runner.run(embedder.aclose())


def fused(rankings: Sequence[Ranks], size: int) -> Ranks:
    """Reciprocal rank fusion: by the sum of 1 / (60 + rank) over the rankings that hold a place.

    Source: Cormack, Clarke and Buettcher 2009, Reciprocal rank fusion outperforms Condorcet.

    Examples
    --------
    >>> fused([[0, 1, 2], [2, 1]], size=3)
    [2, 1, 0]
    """
    scores: NDArray[np.float64] = np.zeros(size)
    for ranking in rankings:
        scores[ranking] += 1.0 / (FUSION_K + 1 + np.arange(len(ranking)))
    return [int(i) for i in np.argsort(-scores, kind="stable")]
