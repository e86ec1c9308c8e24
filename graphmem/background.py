"""Background work of one process: job notifications, the idle gate, tasks under way, the end."""

import asyncio
import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from graphmem.notifier import JobNotifier

STUDENTS_AT_ONCE = 4
"""Students whose jobs a process runs side by side."""
FINISH_SECONDS = 10.0
"""Seconds that a process which ends waits for its jobs under way."""


class IdleGate:
    """Gate for background work: open once no turn has been under way in this process for a while."""

    def __init__(self) -> None:
        self._turns = 0
        self._since = -math.inf
        self._idle = asyncio.Event()
        self._idle.set()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """While it lasts, a turn is under way."""
        self._turns += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._turns -= 1
            if not self._turns:
                self._since = monotonic()
                self._idle.set()

    async def wait(self, quiet: float, patience: float) -> None:
        """Wait until no turn has been under way for `quiet` seconds, but no longer than `patience` seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._idle.wait()
                while (rest := self._since + quiet - monotonic()) > 0:
                    await asyncio.sleep(rest)
                    await self._idle.wait()


@dataclass
class Background:
    """Background work of a process.

    notifier : tells the process that runs jobs that a student has some
    worker : this process is there to run jobs
    slots : how many students' jobs this process runs side by side
    gate : lets turns go first
    tasks : under way; the end of the process waits for them
    streams : streams of events that this process serves, by institution and student
    starting : sessions whose jobs are about to be started
    stopping : set when this process ends; jobs under way are finished, and no more are begun
    """

    notifier: JobNotifier
    worker: bool = False
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(STUDENTS_AT_ONCE))
    gate: IdleGate = field(default_factory=IdleGate)
    tasks: set[asyncio.Task[Any]] = field(default_factory=set)
    streams: Counter[tuple[str, str]] = field(default_factory=Counter)
    starting: set[str] = field(default_factory=set)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def runs_jobs(self) -> bool:
        """True if this process runs jobs itself instead of leaving them to workers."""
        return self.worker or self.notifier.is_local

    def keep(self, task: asyncio.Task[Any]) -> None:
        """Have the end of this process wait for a task."""
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def stops_within(self, seconds: float) -> bool:
        """Wait for some time; whether this process begins to end meanwhile, which ends the waiting."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.stopping.wait(), seconds)
        return self.stopping.is_set()

    async def aclose(self) -> None:
        """Let what is under way come to its end; what takes too long is taken up again when its lease runs out."""
        self.stopping.set()
        if self.tasks:
            await asyncio.wait(self.tasks, timeout=FINISH_SECONDS)
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await self.notifier.aclose()
