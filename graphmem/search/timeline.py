"""Temporal neighbours and sittings (gaps of less than an hour) of memories (spec 10.1)."""

from typing import NamedTuple

import numpy as np

from graphmem.maths.features import SEGMENT_GAP
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
    together = np.diff(at) < SEGMENT_GAP
    order, before, after = (np.full(size, -1, dtype=np.int64) for _ in range(3))
    sitting = np.zeros(size, dtype=np.int64)
    order[rows] = np.arange(len(rows))
    before[rows[1:][together]] = rows[:-1][together]
    after[rows[:-1][together]] = rows[1:][together]
    sitting[rows] = np.concatenate([[0], np.cumsum(~together)])[: len(rows)]
    return Timeline(order, before, after, sitting)


class GrowingTimeline:
    """A timeline whose end grows in constant time.

    Examples
    --------
    >>> growing = GrowingTimeline(timeline(np.array([1]), np.array([0.0]), size=2))
    >>> growing.append(0, after=1, gap=60.0)
    >>> growing.view(2).before.tolist(), growing.view(2).sitting.tolist()
    ([1, -1], [0, 0])
    """

    def __init__(self, start: Timeline) -> None:
        self._arrays = start
        self._count = int(np.count_nonzero(start.order >= 0))

    def append(self, row: int, after: int | None, gap: float) -> None:
        """Put a row that is not in it at the end, `gap` seconds after the last one."""
        if row >= len(self._arrays.order):
            self._arrays = Timeline(*(_longer(array, 2 * (row + 1)) for array in self._arrays))
        order, before, following, sitting = self._arrays
        together = after is not None and gap < SEGMENT_GAP
        order[row] = self._count
        before[row] = after if after is not None and together else -1
        following[row] = -1
        sitting[row] = 0 if after is None else sitting[after] + (not together)
        if after is not None and together:
            following[after] = row
        self._count += 1

    def view(self, size: int) -> Timeline:
        """The timeline of the first rows."""
        return Timeline(*(array[:size] for array in self._arrays))


def _longer(array: Rows, size: int) -> Rows:
    return np.concatenate([array, np.full(size - len(array), -1, dtype=np.int64)])


def window(inside: Scores, ahead: Scores, time: Timeline) -> Scores:
    """Amount said of something around each memory.

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
