"""Token buckets: how much each caller may ask for in a minute, counted by this process."""

from cachetools import TTLCache

SECONDS = 60.0
"""Seconds in which an empty bucket fills up."""
CALLERS = 100_000
"""Most buckets kept; of more callers the one that asked longest ago begins anew with a full one."""


class TokenBuckets:
    """A bucket of tokens for each caller, which fills up evenly.

    Parameters
    ----------
    capacity : int >= 1, tokens of a full bucket, and those that come back in a minute

    Examples
    --------
    >>> buckets = TokenBuckets(60)
    >>> buckets.take("ann", 60, 0.0), buckets.take("ann", 1, 0.5), buckets.take("ben", 1, 0.5)
    (True, False, True)
    >>> buckets.take("ann", 2, 2.0)
    True
    >>> buckets.give_back("ann", 2)
    >>> buckets.take("ann", 2, 2.0)
    True
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        # A bucket that was left alone for as long is full again.
        self._left: TTLCache[str, tuple[float, float]] = TTLCache(CALLERS, ttl=SECONDS)

    def take(self, caller: str, tokens: int, now: float) -> bool:
        """Take tokens out of a caller's bucket; False, and nothing taken, where it holds fewer.

        Parameters
        ----------
        caller : str
        tokens : int >= 0
        now : float, seconds of a clock that never goes back
        """
        left, at = self._left.get(caller, (float(self._capacity), now))
        left = min(float(self._capacity), left + (now - at) * self._capacity / SECONDS)
        allowed = tokens <= left
        self._left[caller] = (left - tokens if allowed else left, now)
        return allowed

    def give_back(self, caller: str, tokens: int) -> None:
        """Put tokens back into a caller's bucket, where they were taken and not used."""
        left, at = self._left.get(caller, (float(self._capacity), 0.0))
        self._left[caller] = (min(float(self._capacity), left + tokens), at)
