"""Whether graphmem is well: what answers, and how long the oldest message and job have been waiting (spec 16)."""

from contextlib import suppress

from graphmem import metrics
from graphmem.app import Graphmem
from graphmem.errors import GraphmemError, Unavailable
from graphmem.jobs.runner import kinds
from graphmem.model import JobState
from graphmem.store import jobs, schema, students, turns

MEASURE_SECONDS = 15.0
"""Seconds between two readings of the gauges in a worker."""


async def oldest_unanswered(gm: Graphmem) -> float:
    """Seconds that the oldest message without a reply has waited; 0.0 when none waits."""
    at = await turns.find_oldest_waiting(gm.graph)
    return 0.0 if at is None else max(0.0, (gm.clock() - at).total_seconds())


async def oldest_job(gm: Graphmem) -> float:
    """Seconds that the oldest job which could be run has waited; 0.0 when none waits.

    Not counted are jobs of locked students, those that wait for another try, and those nobody here can do.
    """
    since = await jobs.find_oldest_due(gm.graph, kinds(gm), gm.clock())
    return 0.0 if since is None else max(0.0, (gm.clock() - since).total_seconds())


async def carrier(gm: Graphmem) -> str:
    """Who tells workers of jobs: `memory`, `redis`, or `away`."""
    try:
        await gm.carrier.check()
    except Unavailable:
        return "away"
    return "memory" if gm.carrier.here else "redis"


async def check_database(gm: Graphmem) -> str:
    """Version and edition of the Neo4j that answers; Unavailable or SetupError when none fit does."""
    return await schema.check_server(gm.graph)


async def measure(gm: Graphmem) -> None:
    """Bring the gauges of `graphmem.metrics` up to date; those read from the database keep their values without it."""
    metrics.unlocked_students.set(len(gm.unlocked))
    with suppress(GraphmemError):
        metrics.stranded_seconds.set(await oldest_unanswered(gm))
        metrics.job_seconds.set(await oldest_job(gm))
        metrics.open_sessions.set(await students.count_sessions(gm.graph, gm.clock()))
        counts = await jobs.count_by_state(gm.graph)
        for kind, state in ((kind, state) for kind in jobs.Kind for state in JobState):
            metrics.jobs.labels(kind.value, state.value).set(counts.get((kind.value, state.value), 0))


async def measure_forever(gm: Graphmem) -> None:
    """Bring the gauges up to date again and again, for a process without an API that is asked for them."""
    await measure(gm)
    while not await gm.stops_within(MEASURE_SECONDS):
        await measure(gm)
