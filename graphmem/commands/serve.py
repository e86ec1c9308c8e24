"""Opening graphmem on whichever Neo4j is configured, and serving its API."""

import asyncio
import gc
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pkgutil import resolve_name
from typing import Any, TypeVar

import uvicorn

from graphmem.app import Graphmem, open_graphmem
from graphmem.errors import SetupError
from graphmem.local import server
from graphmem.settings import Settings
from graphmem.store.graph import Graph, open_driver

Say = Callable[[str], None]
T = TypeVar("T")

DRAIN_SECONDS = 30


@asynccontextmanager
async def opened(settings: Settings, say: Say) -> AsyncIterator[Graphmem]:
    """An open graphmem; starts the local Neo4j when no other one is configured.

    Raises
    ------
    SetupError      something is not ready; the message says what to do
    Unavailable     Neo4j does not answer
    """
    uri, user, password = await asyncio.to_thread(neo4j_access, settings, say)
    async with open_graphmem(settings, uri, user, password) as gm:
        yield gm


@asynccontextmanager
async def opened_graph(settings: Settings, say: Say) -> AsyncIterator[Graph]:
    """The configured Neo4j alone, without checks, minds and models; starts the local one if need be."""
    uri, user, password = await asyncio.to_thread(neo4j_access, settings, say)
    graph = Graph(open_driver(uri, user, password, settings.neo4j_timeout), settings.neo4j_timeout)
    try:
        yield graph
    finally:
        await graph.aclose()


def neo4j_access(settings: Settings, say: Say) -> tuple[str, str, str]:
    """Address, user and password of the Neo4j to use, which runs when this returns if it is the local one."""
    if settings.neo4j_uri is None:
        found = server.up(settings, say)
        return found.bolt_uri, found.user, found.password
    if settings.neo4j_password is None:
        raise SetupError("GRAPHMEM_NEO4J_URI is set, but GRAPHMEM_NEO4J_PASSWORD is not: set it.")
    return settings.neo4j_uri, settings.neo4j_user, settings.neo4j_password.get_secret_value()


def serve(settings: Settings, host: str, port: int, say: Say) -> None:
    """Serve the API until told to stop; requests under way are finished on SIGTERM."""
    run_fast(_serve(settings, host, port, say))


def run_fast(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on uvloop where there is one."""
    if sys.platform == "win32":
        return asyncio.run(main)
    import uvloop

    return uvloop.run(main)


def server_config(gm: Graphmem, **more: Any) -> uvicorn.Config:
    """The configured web server of an open graphmem; found by name, since the library does not depend on it."""
    app = resolve_name("graphmem_api.main:make_app")(gm)
    config: uvicorn.Config = resolve_name("graphmem_api.server:server_config")(app, gm.settings, **more)
    return config


async def _serve(settings: Settings, host: str, port: int, say: Say) -> None:
    async with opened(settings, say) as gm:
        config = server_config(
            gm,
            host=host,
            port=port,
            log_level=settings.log_level,
            timeout_graceful_shutdown=DRAIN_SECONDS,
        )
        # uvicorn raises a signal again once it has drained; ours then lets the rest be closed in order.
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, lambda *_: None)
        # What is loaded by now stays: the collector need not look through it again and again.
        gc.collect()
        gc.freeze()
        say(f"graphmem serves GraphQL at http://{host}:{port}/graphql")
        await uvicorn.Server(config).serve()
