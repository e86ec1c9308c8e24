"""Limits of requests and of password checks, of which each takes Argon2id time and memory (spec 14, 19)."""

import asyncio
import json
import os
import sys
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from math import ceil
from time import monotonic
from typing import TypeVar
from weakref import WeakValueDictionary

from cachetools import TTLCache

from graphmem.errors import RateLimited
from graphmem.settings import Settings

SECONDS = 60.0
"""Seconds in which an empty bucket fills up."""
CALLERS = 100_000
"""Most buckets kept; of more callers the one that asked longest ago begins anew with a full one."""


T = TypeVar("T")
QUEUE_SECONDS = 5.0
"""Seconds that a password waits for its check until it is refused."""
WRONG_A_MINUTE = 60
"""Wrong passwords of one caller in a minute, of whatever students."""
QUEUE_FULL = "Too many passwords are being checked: try again in a moment."
NICENESS = 10
"""By how much less the system gives a check than a turn where both need a processor, as of `nice`."""
REST = 9.0
"""How often as long as its check took a caller waits after a wrong password, once there were several: guesses take a
tenth of a processor. After the first ones it is less, by how many there were."""
SEVERAL = 0.25
"""Share of the wrong passwords a minute of a caller that are more than mistakes."""
CALLERS_KNOWN = 10_000
"""Callers with wrong passwords that are known at once."""
TOO_MANY_WRONG = "Too many wrong passwords from here: wait a minute, then try again."


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
        self.capacity = capacity
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
        left, at = self._left.get(caller, (float(self.capacity), 0.0))
        self._left[caller] = (min(float(self.capacity), left + tokens), at)

    def wait(self, caller: str, tokens: int, now: float) -> float:
        """Seconds until a caller's bucket holds some tokens, at most those of a full one.

        Examples
        --------
        >>> buckets = TokenBuckets(60)
        >>> buckets.take("ann", 60, 0.0), buckets.wait("ann", 10, 1.0)
        (True, 9.0)
        """
        missing = min(tokens, self.capacity) - self._now(caller, now)
        return max(0.0, missing * SECONDS / self.capacity)

    def _now(self, caller: str, now: float) -> float:
        left, at = self._left.get(caller, (float(self.capacity), now))
        return min(float(self.capacity), left + (now - at) * self.capacity / SECONDS)


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
        by_institution = settings.observations_institution_minute
        self._limits: dict[str, list[tuple[str, TokenBuckets, Sequence[str]]]] = defaultdict(list)
        for kind, what, most, by in (
            ("requests", "requests of a role", settings.requests_minute, ("institution", "role")),
            ("turns", "turns of a student", settings.turns_minute, ("institution", "student")),
            (
                "observations",
                "observations of a student",
                settings.observations_minute,
                ("institution", "role", "student"),
            ),
            ("observations", "observations of an institution", by_institution, ("institution",)),
        ):
            if most:
                self._limits[kind].append((what, TokenBuckets(most), by))

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
        for what, buckets, by in self._limits[kind]:
            bucket = json.dumps([caller[name] for name in by])
            if not buckets.take(bucket, amount, now):
                seconds = max(1, ceil(buckets.wait(bucket, amount, now)))
                raise RateLimited(
                    f"At most {buckets.capacity} {what} are taken a minute: try again in {seconds} seconds.",
                    retry_after=seconds,
                )


class PasswordChecks:
    """Limits of the password checks of one process.

    Parameters
    ----------
    at_once : int >= 1, computations of Argon2id at once, half as many as processors by default; the others queue up
    queue_seconds : float > 0, seconds after which one that queues is refused
    wrong_a_minute : int >= 1, wrong passwords of one caller in a minute, of whatever students
    """

    def __init__(
        self, at_once: int | None = None, queue_seconds: float | None = None, wrong_a_minute: int | None = None
    ) -> None:
        at_once = at_once or max(1, (os.cpu_count() or 1) // 2)
        wrong_a_minute = wrong_a_minute or WRONG_A_MINUTE
        self._at_once = at_once
        self._queue_seconds = queue_seconds or QUEUE_SECONDS
        self._slots = asyncio.Semaphore(at_once)
        self._threads = ThreadPoolExecutor(at_once, "passwords", initializer=_give_way)
        self._wrong = TokenBuckets(wrong_a_minute)
        self._several = max(1, round(SEVERAL * wrong_a_minute))
        self._mistaken = TokenBuckets(self._several)
        self._rests_until: TTLCache[str, float] = TTLCache(CALLERS_KNOWN, 60.0)
        self._took = 0.0
        self._students: WeakValueDictionary[tuple[str, ...], asyncio.Semaphore] = WeakValueDictionary()

    async def computed(self, work: Callable[[], T], caller: str = "") -> T:
        """Run a computation of Argon2id off the event loop, in its turn.

        Parameters
        ----------
        work : the computation
        caller : whose password is checked; one with several wrong ones rests, and others go before

        Raises
        ------
        RateLimited     too many others queue
        """
        ends = monotonic() + self._queue_seconds
        while True:
            async with self._waited(self._slots, ends):
                if self.resting(caller) <= 0:
                    began = monotonic()
                    try:
                        return await asyncio.get_running_loop().run_in_executor(self._threads, work)
                    finally:
                        self._took = monotonic() - began
            if monotonic() + self.resting(caller) > ends:
                raise RateLimited(QUEUE_FULL)
            await asyncio.sleep(self.resting(caller))

    @asynccontextmanager
    async def attempts(self, *of: str) -> AsyncIterator[None]:
        """Let as many tries of one password through at once as can be computed: the right ones of them are not wrong.

        Raises
        ------
        RateLimited     too many others queue
        """
        turns = self._students.setdefault(of, asyncio.Semaphore(self._at_once))
        async with self._waited(turns, monotonic() + self._queue_seconds):
            yield

    def count(self, caller: str) -> None:
        """Count a password of a caller as wrong until it turns out right.

        Raises
        ------
        RateLimited     too many of the caller's were wrong, or are being checked
        """
        if not self._wrong.take(caller, 1, monotonic()):
            raise RateLimited(TOO_MANY_WRONG)

    def wrong(self, caller: str) -> None:
        """Let a caller rest before the next computation, the longer the more were of wrong passwords lately."""
        now = monotonic()
        self._mistaken.take(caller, 1, now)
        several = self._mistaken.wait(caller, self._several, now) / SECONDS
        self._rests_until[caller] = now + REST * several * self._took

    def resting(self, caller: str) -> float:
        """Seconds that a caller still rests; 0 or less once it need not."""
        return self._rests_until.get(caller, 0.0) - monotonic()

    def right(self, caller: str) -> None:
        """Take back what was counted of a caller: the password was right."""
        self._wrong.give_back(caller, 1)

    @asynccontextmanager
    async def _waited(self, turns: asyncio.Semaphore, ends: float) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(ends - monotonic()):
                await turns.acquire()
        except TimeoutError as e:
            raise RateLimited(QUEUE_FULL) from e
        try:
            yield
        finally:
            turns.release()


def _give_way() -> None:
    """Let other threads have the processors first; where the system ranks threads one by one."""
    if sys.platform == "linux":
        thread = threading.get_native_id()
        # A process that gives way itself may not take that back.
        os.setpriority(os.PRIO_PROCESS, thread, max(NICENESS, os.getpriority(os.PRIO_PROCESS, thread)))
