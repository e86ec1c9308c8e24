"""The API, or a process for background work, until told to stop (spec 16)."""

import asyncio
import gc
import signal
import socket
from pkgutil import resolve_name
from typing import Any

import uvicorn
from prometheus_client import start_http_server

from graphmem import metrics
from graphmem.app import Graphmem
from graphmem.errors import SetupError
from graphmem.flows.students import keep_up_forever
from graphmem.jobs.dispatch import listen_for_jobs, run_due_jobs, run_due_jobs_forever
from graphmem.jobs.health import measure_forever
from graphmem.jobs.runner import trouble_logged
from graphmem.jobs.sweeper import sweep_forever
from graphmem.local.server import remove_left_copy
from graphmem.progress import Say
from graphmem.runtime import get_ready, open_graphmem, run_fast
from graphmem.settings import Settings

DRAIN_SECONDS = 30
WAITING_CONNECTIONS = 2048
"""Connections that wait to be taken, as many as the web server would let."""


def serve(settings: Settings, host: str, port: int, say: Say) -> None:
    """Serve the API until told to stop; requests under way are finished on SIGTERM."""
    remove_left_copy(settings, say)
    run_fast(_serve(settings, host, port, say))


def web_server(gm: Graphmem, **more: Any) -> uvicorn.Config:
    """Return the configured web server of an open graphmem; found by name, since the library does not depend on it."""
    app = resolve_name("graphmem_api.main:make_app")(gm)
    config: uvicorn.Config = resolve_name("graphmem_api.main:server_config")(app, gm.settings, **more)
    return config


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address; whoever connects is answered once the API can.

    Raises
    ------
    SetupError      another program has the address, or it is none of this machine
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=WAITING_CONNECTIONS)
    except OSError as error:
        why, _, _ = (error.strerror or "").partition(" (")
        raise SetupError(
            f"The API cannot listen on port {port} of {host} ({why}): end the program that does, or choose "
            "another one with --port, or --host."
        ) from error


async def _serve(settings: Settings, host: str, port: int, say: Say) -> None:
    own = bound_socket(host, port)
    async with open_graphmem(settings, say=say, background=False) as gm:
        config = web_server(
            gm,
            # Our own setup holds for its loggers too.
            log_config=None,
            timeout_graceful_shutdown=DRAIN_SECONDS,
        )
        gm.background.keep(asyncio.create_task(get_ready(gm)))
        # uvicorn raises a signal again once it has drained; ours then lets the rest be closed in order.
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, lambda *_: None)
        # What is loaded by now stays: the collector need not look through it again and again.
        gc.collect()
        gc.freeze()
        scheme = "http" if settings.tls_certificate is None else "https"
        address = f"{scheme}://{host}:{own.getsockname()[1]}"
        page = f", the page for people at {address}/" if settings.people else ""
        say(f"graphmem serves GraphQL at {address}/graphql{page}")
        await uvicorn.Server(config).serve([own])
    if settings.neo4j_uri is None:
        say("The local Neo4j keeps running: graphmem down stops it.")


def work(settings: Settings, concurrency: int, say: Say) -> None:
    """Run jobs until told to stop; the ones under way are finished on SIGTERM.

    Parameters
    ----------
    settings : Settings; with `broker` at Redis it listens there, else it looks into the graph every `jobs_poll` seconds
    concurrency : int >= 1, students whose jobs are run side by side
    say : tells a person when it is ready
    """
    run_fast(_work(settings, concurrency, say))


async def _work(settings: Settings, concurrency: int, say: Say) -> None:
    async with open_graphmem(settings, say=say, background=False) as gm:
        background = gm.background
        background.worker, background.slots = True, asyncio.Semaphore(concurrency)
        for signum in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(signum, background.stopping.set)
        work = [_swept(gm), keep_up_forever(gm)]
        if settings.worker_metrics_port is not None:
            start_http_server(settings.worker_metrics_port, "127.0.0.1", registry=metrics.registry)
            work.append(measure_forever(gm))
        say("graphmem worker is ready")
        told = run_due_jobs_forever(gm) if background.notifier.is_local else listen_for_jobs(gm, concurrency)
        await asyncio.gather(told, *work)
    say("graphmem worker has finished")


async def _swept(gm: Graphmem) -> None:
    """Run the jobs that waited while no worker was running, then sweep for lost ones."""
    with trouble_logged():
        await run_due_jobs(gm)
    await sweep_forever(gm)
