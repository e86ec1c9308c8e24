"""Token buckets: how much each caller may ask for in a minute, counted by this process."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from cachetools import TTLCache

from graphmem.errors import RateLimited
from graphmem.settings import Settings

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
        left = self._now(caller, now)
        allowed = tokens <= left
        self._left[caller] = (left - tokens if allowed else left, now)
        return allowed

    def give_back(self, caller: str, tokens: int) -> None:
        """Put tokens back into a caller's bucket, where they were taken and not used."""
        left, at = self._left.get(caller, (float(self._capacity), 0.0))
        self._left[caller] = (min(float(self._capacity), left + tokens), at)

    def wait(self, caller: str, tokens: int, now: float) -> float:
        """Seconds until a caller's bucket holds some tokens, at most those of a full one.

        Examples
        --------
        >>> buckets = TokenBuckets(60)
        >>> buckets.take("ann", 60, 0.0), buckets.wait("ann", 10, 1.0)
        (True, 9.0)
        """
        missing = min(tokens, self._capacity) - self._now(caller, now)
        return max(0.0, missing * SECONDS / self._capacity)

    def _now(self, caller: str, now: float) -> float:
        left, at = self._left.get(caller, (float(self._capacity), now))
        return min(float(self._capacity), left + (now - at) * self._capacity / SECONDS)


@dataclass(frozen=True)
class Limit:
    """A limit a minute.

    what : that is limited, such as `turns of a student`
    most : int >= 1, a minute
    by : what a bucket is kept for: some of `institution`, `role`, `student`
    """

    what: str
    most: int
    by: Sequence[str]
    buckets: TokenBuckets


class Rates:
    """The limits of a process: of requests, turns and observations.

    Parameters
    ----------
    settings : Settings     those whose names end with `_minute`; 0 means no limit

    Examples
    --------
    >>> rates = Rates(Settings(turns_minute=2))
    >>> rates.check("turns", 2, 0.0, institution="school", role="app", student="ann")
    >>> rates.check("turns", 1, 0.0, institution="school", role="app", student="ben")
    >>> rates.check("turns", 1, 15.0, institution="school", role="app", student="ann")
    Traceback (most recent call last):
    graphmem_client.errors.RateLimited: At most 2 turns of a student are taken a minute: try again in 15 seconds.
    """

    def __init__(self, settings: Settings) -> None:
        limits: dict[str, list[tuple[str, int, Sequence[str]]]] = {
            "requests": [("requests of a role", settings.requests_minute, ("institution", "role"))],
            "turns": [
                ("turns of a student", settings.turns_minute, ("institution", "student")),
            ],
            "observations": [
                ("observations of a student", settings.observations_minute, ("institution", "role", "student")),
                ("observations of an institution", settings.observations_institution_minute, ("institution",)),
            ],
        }
        self._limits = {
            kind: [Limit(what, most, by, TokenBuckets(most)) for what, most, by in rows if most]
            for kind, rows in limits.items()
        }

    def check(self, kind: str, amount: int, now: float, **caller: str) -> None:
        """Count something that a caller asks for.

        Parameters
        ----------
        kind : `requests`, `turns` or `observations`
        amount : int >= 0
        now : float, seconds of a clock that never goes back
        caller : institution, role and student, as far as there are limits by them

        Raises
        ------
        RateLimited     there would be too much this minute; it says when to come again
        """
        for limit in self._limits[kind]:
            bucket = _bucket(limit, caller)
            if not limit.buckets.take(bucket, amount, now):
                seconds = max(1, ceil(limit.buckets.wait(bucket, amount, now)))
                raise RateLimited(
                    f"At most {limit.most} {limit.what} are taken a minute: try again in {seconds} seconds.",
                    retry_after=seconds,
                )


def _bucket(limit: Limit, caller: dict[str, str]) -> str:
    return json.dumps([caller[name] for name in limit.by])
