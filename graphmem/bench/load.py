"""Eight students talk while API and database are killed at random moments: acknowledged turns must be there, once."""

import asyncio
import os
import random
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, perf_counter, sleep

from graphmem.bench import Figures
from graphmem.bench.harness import (
    BENCH_INSTITUTION,
    NoAnswer,
    Talker,
    enrolled,
    killed,
    latencies,
    messages,
    own_database,
    start_api,
)
from graphmem.local import server
from graphmem.local.process import free_ports
from graphmem.model import Who
from graphmem.progress import print_line
from graphmem.runtime import open_graph
from graphmem.settings import Settings

LOAD_STUDENTS = 8
SERVER_KILLS = 20
LOAD_SEED = 11
BETWEEN_KILLS = (1.0, 4.0)
"""Seconds of talk between two kills, at random."""


@dataclass
class Diary:
    """Log of the turns that were acknowledged to one student, in order."""

    talker: Talker
    replies: dict[str, str] = field(default_factory=dict)
    changed: int = 0
    seconds: list[float] = field(default_factory=list)

    def talk(self, texts: list[str], stop: threading.Event, pause: float) -> None:
        """Send one message after the other until stopped, each again with the same id until it is answered."""
        number = 0
        while not stop.is_set():
            sleep(pause)
            turn_id, text = f"turn-{number}", texts[(number * LOAD_STUDENTS) % len(texts)]
            start = perf_counter()
            self.replies[turn_id] = self._until_answered(turn_id, text)
            self.seconds.append(perf_counter() - start)
            # Every tenth answer is asked for once more: it must be the same one.
            if number % 10 == 0 and self._until_answered(turn_id, text) != self.replies[turn_id]:
                self.changed += 1
            number += 1

    def _until_answered(self, turn_id: str, text: str) -> str:
        deadline = monotonic() + 120
        while True:
            try:
                return str(self.talker.say(turn_id, text)["reply"])
            except NoAnswer:
                if monotonic() > deadline:
                    raise
                sleep(0.1)


@contextmanager
def talking(talkers: list[Talker], texts: list[str], pause: float = 0.0) -> Iterator[list[Diary]]:
    """Let students talk side by side, with so many seconds from a reply to the next message; yield their diaries."""
    stop, diaries = threading.Event(), [Diary(talker) for talker in talkers]
    threads = [threading.Thread(target=diary.talk, args=(texts, stop, pause)) for diary in diaries]
    for thread in threads:
        thread.start()
    try:
        yield diaries
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def measure_load(settings: Settings, file: Path | None) -> Figures:
    """Kill API and database in turn, twenty times in all, and count lost and doubled turns.

    Parameters
    ----------
    settings : Settings, whose jars are used for a database of the benchmark's own
    file : dialogues whose student messages are said instead of the shipped ones
    """
    chance, (port,) = random.Random(LOAD_SEED), free_ports(1)
    with own_database(settings) as own:
        api = start_api(own, port)
        talkers, start = enrolled(own, port, [f"student-{i}" for i in range(LOAD_STUDENTS)]), perf_counter()
        with talking(talkers, messages(file)) as diaries:
            for kill in range(SERVER_KILLS):
                sleep(chance.uniform(*BETWEEN_KILLS))
                turns = sum(len(diary.seconds) for diary in diaries)
                print_line(f"kill {kill + 1} of {SERVER_KILLS}: {'database' if kill % 2 else 'API'}, {turns} turns")
                if kill % 2:
                    if (pid := server.status(own).pid) is not None:
                        os.kill(pid, signal.SIGKILL)
                    server.up(own)
                else:
                    killed(api)
                    api = start_api(own, port)
            sleep(chance.uniform(*BETWEEN_KILLS))
        elapsed = perf_counter() - start
        counted = asyncio.run(_count_stored(own, diaries))
        api.terminate()
        api.wait()
    seconds = [s for diary in diaries for s in diary.seconds]
    return counted | {
        "kills": SERVER_KILLS,
        "acknowledged": len(seconds),
        "replies_changed": sum(diary.changed for diary in diaries),
        "turns_per_s": len(seconds) / elapsed,
        **latencies(seconds, high=99),
    }


async def _count_stored(settings: Settings, diaries: list[Diary]) -> Figures:
    """Count acknowledged turns that are missing, and turns that are there more than once."""
    lost = doubled = 0
    async with open_graph(settings, print_line) as graph:
        for diary in diaries:
            who = Who(BENCH_INSTITUTION, diary.talker.student)
            (row,) = await graph.run("source/count", who)
            handled = await graph.run("source/list", who)
            lost += len(diary.replies.keys() - {h["ref"] for h in handled})
            doubled += row["sources"] - len({h["ref"] for h in handled}) + row["turns"] - row["sources"]
    return {"lost": float(lost), "doubled": float(doubled)}
