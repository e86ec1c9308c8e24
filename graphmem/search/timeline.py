"""Temporal neighbours and sittings (gaps of less than an hour) of memories (spec 10.1)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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


class GrowingTimeline:
    """The timeline of some memories, whose end grows in constant time.

    Parameters
    ----------
    rows : int array of shape (n,), in order of time
    at : float array of shape (n,), their times in seconds, ascending
    apart : bool array of shape (n,): true of what is made of several things said, which has no neighbours: words
        would be counted twice
    size : int, rows there are; those not in `rows` get -1, and sitting 0

    Examples
    --------
    >>> growing = GrowingTimeline(np.array([2, 0]), np.array([0.0, 60.0]), np.array([False, True]), size=3)
    >>> growing.append(1, at=90.0, apart=False)
    >>> growing.view(3).before.tolist(), growing.view(3).sitting.tolist()
    ([-1, 2, -1], [0, 0, 0])
    """

    def __init__(self, rows: Rows, at: Scores, apart: NDArray[np.bool_], size: int) -> None:
        order, before, after = (np.full(size, -1, dtype=np.int64) for _ in range(3))
        sitting = np.zeros(size, dtype=np.int64)
        order[rows] = np.arange(len(rows))
        sitting[rows] = np.concatenate([[0], np.cumsum(np.diff(at) >= SEGMENT_GAP)])[: len(rows)]
        linked = rows[~apart]
        together = np.diff(at[~apart]) < SEGMENT_GAP
        before[linked[1:][together]] = linked[:-1][together]
        after[linked[:-1][together]] = linked[1:][together]
        self._arrays = Timeline(order, before, after, sitting)
        self._count = len(rows)
        self._last = (int(rows[-1]), float(at[-1])) if len(rows) else None
        self._linked = (int(linked[-1]), float(at[~apart][-1])) if len(linked) else None

    def append(self, row: int, at: float, *, apart: bool) -> None:
        """Put a row that is not in it at the end."""
        if row >= len(self._arrays.order):
            self._arrays = Timeline(*(_longer(array, 2 * (row + 1)) for array in self._arrays))
        order, before, after, sitting = self._arrays
        order[row], before[row], after[row] = self._count, -1, -1
        sitting[row] = 0
        if self._last is not None:
            sitting[row] = sitting[self._last[0]] + (at - self._last[1] >= SEGMENT_GAP)
        if not apart:
            if self._linked is not None and at - self._linked[1] < SEGMENT_GAP:
                before[row] = self._linked[0]
                after[self._linked[0]] = row
            self._linked = row, at
        self._last = row, at
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
    >>> time = GrowingTimeline(np.arange(3), np.zeros(3), np.zeros(3, dtype=bool), size=3).view(3)
    >>> window(np.array([0.0, 0.0, 1.0]), np.zeros(3), time).tolist()
    [0.5, 1.0, 1.0]
    """
    after = neighbour(inside, time.after)
    further = neighbour(ahead, time.before) + neighbour(after, time.after)
    return inside + ahead + after + FURTHER * further
