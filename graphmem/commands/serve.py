"""The API, served until told to stop."""

import asyncio
import gc
import signal
from pkgutil import resolve_name
from typing import Any

import uvicorn

from graphmem.app import Graphmem
from graphmem.local.copies import remove_left_copy
from graphmem.runtime import Say, get_ready, open_graphmem, run_fast
from graphmem.settings import Settings

DRAIN_SECONDS = 30


def serve(settings: Settings, host: str, port: int, say: Say) -> None:
    """Serve the API until told to stop; requests under way are finished on SIGTERM."""
    remove_left_copy(settings, say)
    run_fast(_serve(settings, host, port, say))


def web_server(gm: Graphmem, **more: Any) -> uvicorn.Config:
    """The configured web server of an open graphmem; found by name, since the library does not depend on it."""
    app = resolve_name("graphmem_api.main:make_app")(gm)
    config: uvicorn.Config = resolve_name("graphmem_api.server:server_config")(app, gm.settings, **more)
    return config


async def _serve(settings: Settings, host: str, port: int, say: Say) -> None:
    async with open_graphmem(settings, say=say, background=False) as gm:
        config = web_server(
            gm,
            host=host,
            port=port,
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
        say(f"graphmem serves GraphQL at {scheme}://{host}:{port}/graphql")
        await uvicorn.Server(config).serve()
