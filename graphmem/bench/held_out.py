"""Rows that shipped models were not trained on, so that a benchmark may report them."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np


def is_held_out(group: str) -> bool:
    """True if a group of rows (a dialogue, a source) is held out of training: one in five, by its hash.

    Examples
    --------
    >>> [is_held_out(group) for group in ("f", "g", "h", "i")]
    [False, True, True, False]
    """
    return hashlib.sha256(group.encode()).digest()[0] % 5 == 0


def text_hash(*texts: str) -> int:
    """A 64-bit hash of texts, by which a row that was trained on is recognised."""
    return int.from_bytes(hashlib.sha256("\x1f".join(texts).encode()).digest()[:8], "big", signed=True)


def trained_hashes(path: Path) -> frozenset[int]:
    """The hashes of the rows that a shipped model was trained on, from the `.npy` file beside its weights."""
    return frozenset(np.load(path, allow_pickle=False).tolist()) if path.exists() else frozenset()


def save_trained(path: Path, rows: Sequence[tuple[str, ...]]) -> None:
    """Write the hashes of the rows that a model was trained on."""
    np.save(path, np.array(sorted({text_hash(*row) for row in rows}), dtype=np.int64))
