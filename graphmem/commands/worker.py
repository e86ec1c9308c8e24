"""A process of its own for background work (spec 16)."""

import asyncio
import signal

from prometheus_client import start_http_server

from graphmem import metrics
from graphmem.app import Graphmem
from graphmem.flows.integrity import keep_up_forever
from graphmem.jobs.dispatch import run_due_jobs, run_due_jobs_forever, serve_jobs
from graphmem.jobs.health import measure_forever
from graphmem.jobs.runner import trouble_logged
from graphmem.jobs.sweeper import sweep_forever
from graphmem.runtime import Say, open_graphmem, run_fast
from graphmem.settings import Settings


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
        serve_jobs(gm)
        work = [_swept(gm), keep_up_forever(gm)]
        if settings.worker_metrics_port is not None:
            start_http_server(settings.worker_metrics_port, "127.0.0.1", registry=metrics.registry)
            work.append(measure_forever(gm))
        say("graphmem worker is ready")
        notifier = background.notifier
        told = run_due_jobs_forever(gm) if notifier.is_local else notifier.listen(concurrency, background.stopping)
        await asyncio.gather(told, *work)
    say("graphmem worker has finished")


async def _swept(gm: Graphmem) -> None:
    """Run the jobs that waited while no worker was running, then sweep for lost ones."""
    with trouble_logged():
        await run_due_jobs(gm)
    await sweep_forever(gm)
