"""Temporal neighbours and sessions (gaps of less than an hour) of memories (spec 10.1)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmem.maths.features import SEGMENT_GAP
from graphmem.search.scoring import Rows, Scores, neighbour

FURTHER = 0.5
"""Weight of a memory two places away in the window around a memory."""


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
