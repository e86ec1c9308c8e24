"""Health of graphmem: what answers, and how long the oldest message and job have been waiting (spec 16)."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from time import monotonic
from typing import Any, Generic, TypeVar

from graphmem import metrics
from graphmem.app import Graphmem
from graphmem.errors import GraphmemError, Unavailable
from graphmem.jobs.runner import JOB_KINDS
from graphmem.model import JobState
from graphmem.store import jobs, schema, students, turns

MEASURE_SECONDS = 15.0
"""Seconds between two readings of the gauges in a worker."""

HANGS_SECONDS = 30.0
"""Seconds after which a database that has not answered is no longer busy, but broken."""

T = TypeVar("T")


async def soon(gm: Graphmem, answer: Awaitable[T]) -> T:
    """An answer within `health_seconds`, else Unavailable: whoever asks for health does not wait for the database."""
    try:
        async with asyncio.timeout(gm.settings.health_seconds):
            return await answer
    except TimeoutError as e:
        raise Unavailable from e


class Probe(Generic[T]):
    """A question to the database, asked again once it is answered: it tells a busy database from a broken one.

    Parameters
    ----------
    gm : Graphmem
    ask : asks it
    """

    def __init__(self, gm: Graphmem, ask: Callable[[Graphmem], Coroutine[Any, Any, T]]) -> None:
        self._gm, self._ask = gm, ask
        self._asked: asyncio.Task[T] | None = None
        self._began = 0.0

    async def look(self) -> T | None:
        """The answer; None where it does not come within `health_seconds`.

        Raises
        ------
        GraphmemError   the question failed
        Unavailable     the answer is late, and the database cannot be reached, or has been silent for too long
        """
        if self._asked is None or self._asked.done():
            self._asked, self._began = asyncio.create_task(self._ask(self._gm)), monotonic()
        await asyncio.wait({self._asked}, timeout=self._gm.settings.health_seconds)
        if self._asked.done():
            return self._asked.result()
        if self._gm.graph.unreachable or monotonic() - self._began > HANGS_SECONDS:
            raise Unavailable
        return None


async def service_state(gm: Graphmem) -> tuple[float, float, str]:
    """Seconds that the oldest unanswered message and the oldest job have waited, and the state of the broker."""
    return await asyncio.gather(oldest_unanswered(gm), oldest_job(gm), broker_state(gm))


async def oldest_unanswered(gm: Graphmem) -> float:
    """Seconds that the oldest message without a reply has waited; 0.0 when none waits."""
    at = await turns.find_oldest_waiting(gm.graph)
    return 0.0 if at is None else max(0.0, (gm.clock() - at).total_seconds())


async def oldest_job(gm: Graphmem) -> float:
    """Seconds that the oldest job which could be run has waited; 0.0 when none waits.

    Not counted are jobs of locked students, those that wait for another try, and those nobody here can do.
    """
    since = await jobs.find_oldest_due(gm.graph, JOB_KINDS, gm.clock())
    return 0.0 if since is None else max(0.0, (gm.clock() - since).total_seconds())


async def broker_state(gm: Graphmem) -> str:
    """Kind of broker that tells workers of jobs: `memory`, `redis`, or `away`."""
    try:
        await soon(gm, gm.background.notifier.check())
    except Unavailable:
        return "away"
    return "memory" if gm.background.notifier.is_local else "redis"


async def check_database(gm: Graphmem) -> str:
    """Version and edition of the Neo4j that answers; Unavailable or SetupError when none fit does."""
    return await schema.check_server(gm.graph)


async def measure(gm: Graphmem) -> None:
    """Bring the gauges of `graphmem.metrics` up to date; those read from the database keep their values without it."""
    metrics.unlocked_students.set(len(gm.cache))
    metrics.held_bytes.set(gm.cache.nbytes)
    with suppress(GraphmemError):
        unanswered, job, sessions, counts = await soon(
            gm,
            asyncio.gather(
                oldest_unanswered(gm),
                oldest_job(gm),
                students.count_sessions(gm.graph, gm.clock()),
                jobs.count_by_state(gm.graph),
            ),
        )
        metrics.stranded_seconds.set(unanswered)
        metrics.job_seconds.set(job)
        metrics.open_sessions.set(sessions)
        for kind, state in ((kind, state) for kind in jobs.Kind for state in JobState):
            metrics.jobs.labels(kind.value, state.value).set(counts.get((kind.value, state.value), 0))


async def measure_forever(gm: Graphmem) -> None:
    """Bring the gauges up to date again and again, for a process without an API that is asked for them."""
    await measure(gm)
    while not await gm.background.stops_within(MEASURE_SECONDS):
        await measure(gm)
