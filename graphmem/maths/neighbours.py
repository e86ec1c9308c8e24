"""Nearest neighbours among many vectors, looked for in cells: nearly all of them are found (spec 13).

Source: Jegou, Douze and Schmid (2011), Product Quantization for Nearest Neighbor Search, for the inverted file.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

SAMPLE_A_CELL, CELL_ROUNDS = 20, 5
"""Points by which each cell is found, and rounds of k-means."""
NEAR_CELLS = 12
"""Cells that are looked through for the points of one: its own, and those next to it."""

PointPlaces = NDArray[np.intp]


def near_groups(vectors: NDArray[np.float32], seed: int) -> Iterator[tuple[PointPlaces, PointPlaces]]:
    """Groups of points, each with the points among which their nearest are looked for, themselves included.

    Parameters
    ----------
    vectors : float array of shape (n, dimension), of length 1
    seed : int; the same vectors and seed give the same groups

    Returns
    -------
    pairs of int arrays; the first ones together hold each point once

    Notes
    -----
    About sqrt(n) cells; time grows with n ** 1.5.

    Examples
    --------
    >>> corners = np.eye(4, dtype=np.float32)
    >>> sorted(int(point) for own, _ in near_groups(corners, seed=0) for point in own)
    [0, 1, 2, 3]
    """
    chance, n = np.random.default_rng(seed), len(vectors)
    count = max(1, round(n**0.5))
    sample = vectors[chance.permutation(n)[: SAMPLE_A_CELL * count]]
    centres = sample[:count].copy()
    for _ in range(CELL_ROUNDS):
        nearest = np.argmax(sample @ centres.T, axis=1)
        for cell in np.unique(nearest):
            centres[cell] = sample[nearest == cell].mean(axis=0)
        centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12)
    cells = np.concatenate([np.argmax(part @ centres.T, axis=1) for part in np.array_split(vectors, count)])
    order = np.argsort(cells, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(cells, minlength=count))[:-1])
    beside = np.argsort(-(centres @ centres.T), axis=1, kind="stable")[:, :NEAR_CELLS]
    for own, near in zip(members, beside, strict=True):
        if len(own):
            yield own, np.concatenate([members[cell] for cell in near])
