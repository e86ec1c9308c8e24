"""What was said together: the order of memories in time, their neighbours, and what surrounds each (spec 10.1)."""

from typing import NamedTuple

import numpy as np

from graphmem.maths.features import GAP
from graphmem.search.scoring import Rows, Scores, neighbour

FURTHER = 0.5
"""How much what stands two away counts in what surrounds a memory."""


class Timeline(NamedTuple):
    """Per row: its place in time, the rows before and after in the same sitting (-1: none), and the sitting."""

    order: Rows
    before: Rows
    after: Rows
    sitting: Rows


def timeline(rows: Rows, at: Scores, size: int) -> Timeline:
    """Order and neighbours of rows.

    Parameters
    ----------
    rows : int array of shape (n,), in order of time
    at : float array of shape (n,), their times in seconds, ascending
    size : int, rows there are; those not in `rows` get -1, and sitting 0

    Returns
    -------
    Timeline of arrays of shape (size,)

    Examples
    --------
    >>> timeline(np.array([2, 0, 1]), np.array([0.0, 60.0, 9000.0]), size=3).before.tolist()
    [2, -1, -1]
    """
    together = np.diff(at) < GAP
    order, before, after = (np.full(size, -1, dtype=np.int64) for _ in range(3))
    sitting = np.zeros(size, dtype=np.int64)
    order[rows] = np.arange(len(rows))
    before[rows[1:][together]] = rows[:-1][together]
    after[rows[:-1][together]] = rows[1:][together]
    sitting[rows] = np.concatenate([[0], np.cumsum(~together)])[: len(rows)]
    return Timeline(order, before, after, sitting)


def window(inside: Scores, ahead: Scores, time: Timeline) -> Scores:
    """How much is said of something around each memory.

    Parameters
    ----------
    inside : float array of shape (..., n), how much is said of it in each memory
    ahead : float array of shape (..., n), and in what was said just before each, by whomever
    time : Timeline of n rows

    Returns
    -------
    float array of shape (..., n): in it, before it and in the next memory, and by half in what is two away

    Examples
    --------
    >>> time = timeline(np.arange(3), np.zeros(3), size=3)
    >>> window(np.array([0.0, 0.0, 1.0]), np.zeros(3), time).tolist()
    [0.5, 1.0, 1.0]
    """
    after = neighbour(inside, time.after)
    further = neighbour(ahead, time.before) + neighbour(after, time.after)
    return inside + ahead + after + FURTHER * further
