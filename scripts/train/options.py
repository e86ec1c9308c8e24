"""What every training takes: where data lies, where the model is written to, and how rows and texts are read."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmem.progress import tracked
from graphmem.text.embedder import ShippedNetwork

WRITTEN = Path(__file__).parents[1] / "data"
"""Rows that were written for the training."""
Figures = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """What is given to a training.

    data : folder of the shared sets
    folder : of the model, read where it is trained further and written
    original : folder of all-MiniLM-L6-v2, or file of multilingual-e5-small, that a model is cut from
    batches : learned from by the encoder
    head : of the encoder, to be fitted alone; of danger the network to be trained further; None: all, or none
    checkpoint : folder that is kept from run to run of the encoder
    """

    data: Path
    folder: Path
    original: Path
    batches: int
    head: str | None
    checkpoint: Path


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Read the objects of a file of JSON lines."""
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def write_lines(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write objects as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def embedded(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the vectors of texts by the shipped embedder, float32 of shape (n, 384)."""
    encode = ShippedNetwork(1).encode
    return np.concatenate([encode([text]) for text in tracked(texts, "Embedding")])


def rounded(figures: Figures, digits: int = 4) -> Figures:
    """Return figures with so many digits."""
    return {
        name: rounded(value, digits) if isinstance(value, dict) else round(value, digits)
        for name, value in figures.items()
    }
