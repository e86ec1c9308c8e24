"""Turns and background jobs while API, workers and database are killed: each must be there, once."""

import asyncio
import os
import random
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from time import monotonic, perf_counter, sleep
from typing import Any

from graphmem.app import Graphmem, open_with_neo4j
from graphmem.bench import Figures, harness
from graphmem.errors import SetupError
from graphmem.flows import students
from graphmem.flows.observation import observe
from graphmem.local import server
from graphmem.local.process import free_ports
from graphmem.model import Observation, SourceKind, Who
from graphmem.progress import print_line
from graphmem.runtime import neo4j_access, open_graph
from graphmem.settings import Settings
from graphmem.store.graph import Graph

LOAD_STUDENTS = 8
SERVER_KILLS = 20
LOAD_SEED = 11
BETWEEN_KILLS = (1.0, 4.0)
"""Seconds of talk between two kills, at random."""


JOBS = 1000
JOBS_STUDENTS = 20
WORKERS = (1, 2, 4)
WORKER_KILLS = 20
"""Kills of a worker that is at a job; every fifth time Redis is killed after it, and every fifth time the API."""
TALKERS = 6
PAUSE_BETWEEN = 0.1
"""Seconds from a reply to the next message."""
READY = b"graphmem worker is ready"
HASTE = {
    "GRAPHMEM_MODEL_TIMEOUT": "1",
    "GRAPHMEM_JOBS_LEASE": "4",
    "GRAPHMEM_SWEEP_SECONDS": "2",
    "GRAPHMEM_JOBS_LATE": "100000",
}
"""A killed worker's jobs are taken over after five seconds, and lost ones are found after two."""
JOBS_PATIENCE = 300.0


@dataclass
class Diary:
    """Log of the turns that were acknowledged to one student, in order."""

    talker: harness.Talker
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
            except harness.NoAnswer:
                if monotonic() > deadline:
                    raise
                sleep(0.1)


@contextmanager
def talking(talkers: list[harness.Talker], texts: list[str], pause: float = 0.0) -> Iterator[list[Diary]]:
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
    with harness.own_database(settings) as own:
        api = harness.start_api(own, port)
        talkers, start = harness.enrolled(own, port, [f"student-{i}" for i in range(LOAD_STUDENTS)]), perf_counter()
        with talking(talkers, harness.messages(file)) as diaries:
            for kill in range(SERVER_KILLS):
                sleep(chance.uniform(*BETWEEN_KILLS))
                turns = sum(len(diary.seconds) for diary in diaries)
                print_line(f"kill {kill + 1} of {SERVER_KILLS}: {'database' if kill % 2 else 'API'}, {turns} turns")
                if kill % 2:
                    if (pid := server.status(own).pid) is not None:
                        os.kill(pid, signal.SIGKILL)
                    server.up(own)
                else:
                    harness.killed(api)
                    api = harness.start_api(own, port)
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
        **harness.latencies(seconds, high=99),
    }


async def _count_stored(settings: Settings, diaries: list[Diary]) -> Figures:
    """Count acknowledged turns that are missing, and turns that are there more than once."""
    lost = doubled = 0
    async with open_graph(settings, print_line) as graph:
        for diary in diaries:
            who = Who(harness.BENCH_INSTITUTION, diary.talker.student)
            (row,) = await graph.run("source/count", who)
            handled = await graph.run("source/list", who)
            lost += len(diary.replies.keys() - {h["ref"] for h in handled})
            doubled += row["sources"] - len({h["ref"] for h in handled}) + row["turns"] - row["sources"]
    return {"lost": float(lost), "doubled": float(doubled)}


@dataclass
class Deployment:
    """Workers, an API and a Redis on a database of the benchmark's own; `ports` are those of the latter two."""

    settings: Settings
    ports: list[int] = field(default_factory=lambda: free_ports(2))
    workers: list[Popen[bytes]] = field(default_factory=list)
    others: dict[str, Popen[bytes]] = field(default_factory=dict)

    @property
    def more(self) -> dict[str, str]:
        """Additional environment variables of the processes."""
        return HASTE | {"GRAPHMEM_BROKER": f"redis://127.0.0.1:{self.ports[1]}/0"}

    def start_redis(self) -> None:
        """Start a Redis that keeps nothing."""
        if shutil.which("redis-server") is None:
            raise SetupError("redis-server is not installed: `apt-get install redis-server`, or your system's package.")
        command = ["redis-server", "--port", str(self.ports[1]), "--bind", "127.0.0.1", "--save", ""]
        self.others["redis"] = Popen([*command, "--dir", str(self.settings.home)], stdout=DEVNULL)

    def start_workers(self, count: int) -> None:
        """Start workers side by side and wait until they are ready."""
        command, env = [sys.executable, "-m", "graphmem", "worker"], harness.environment(self.settings, **self.more)
        started = [Popen(command, env=env, stderr=PIPE) for _ in range(count)]
        self.workers += started
        for worker in started:
            _wait_until_ready(worker)

    def start_api(self) -> None:
        """Start the API and wait until it answers."""
        self.others["api"] = harness.start_api(self.settings, self.ports[0], **self.more)

    def stop(self) -> None:
        """Stop everything."""
        processes = [*self.workers, *self.others.values()]
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


def measure_jobs(settings: Settings, file: Path | None) -> Figures:
    """Measure jobs a second with one, two and four workers, then twenty kills of workers, Redis and API under load.

    Parameters
    ----------
    settings : Settings, whose jars are used for a database of the benchmark's own
    file : dialogues whose student messages are formed instead of the shipped ones

    Returns
    -------
    Figures: `jobs_per_s_N` from the first to the last job finished by N workers, `doubled_N` memories that a job
    confirmed twice; of the kills `kills`, `kills_midjob` (the worker died holding a lease), `jobs`, `turns`, `lost`
    and `doubled`
    """
    found: Figures = {}
    for count in WORKERS:
        with harness.own_database(settings) as own, _deployed(own) as deployment:
            found |= harness.show_figures(asyncio.run(_speed(deployment, count, harness.messages(file))))
    with harness.own_database(settings) as own, _deployed(own) as deployment:
        return found | _killed(deployment, harness.messages(file))


@contextmanager
def _deployed(settings: Settings) -> Iterator[Deployment]:
    deployment = Deployment(settings)
    try:
        deployment.start_redis()
        yield deployment
    finally:
        deployment.stop()


async def _speed(deployment: Deployment, count: int, texts: list[str]) -> Figures:
    settings = deployment.settings.model_copy(update={"argon2_ops": 1, "argon2_mib": 8})
    async with open_with_neo4j(settings, *await asyncio.to_thread(neo4j_access, settings, print_line)) as gm:
        whom = [Who(harness.BENCH_INSTITUTION, f"student-{i}") for i in range(JOBS_STUDENTS)]
        await asyncio.gather(*(_busy(gm, who, texts, JOBS // JOBS_STUDENTS) for who in whom))
        await asyncio.to_thread(deployment.start_workers, count)
        # Jobs wait for sessions, opened when all workers are ready; too many passwords at once would be refused.
        for who in whom:
            await students.open_session(gm, who, harness.PASSWORD)
        await _await_done(gm.graph)
        (times,), (effects,) = await _bench_rows(gm.graph, "jobs_times"), await _bench_rows(gm.graph, "jobs_effects")
    return {
        f"jobs_per_s_{count}": (JOBS - 1) * 1000 / times["ms"],
        f"doubled_{count}": float(effects["doubled"]),
    }


async def _bench_rows(graph: Graph, name: str) -> list[dict[str, Any]]:
    return await graph.execute(harness.statement(name), {"institution": harness.BENCH_INSTITUTION}, reads=True)


async def _busy(gm: Graphmem, who: Who, texts: list[str], jobs: int) -> None:
    """A locked student of whom so many messages are to be formed."""
    await students.enrol(gm, who, harness.PASSWORD)
    chance, now = random.Random(who.student_id), datetime.now(UTC)
    said = chance.sample(texts, jobs) if len(texts) >= jobs else chance.choices(texts, k=jobs)
    await observe(gm, who, [Observation(SourceKind.SYSTEM, f"r{i}", text, now) for i, text in enumerate(said)])


async def _await_done(graph: Graph) -> None:
    async with asyncio.timeout(JOBS_PATIENCE):
        while True:
            (row,) = await _bench_rows(graph, "jobs_not_done")
            if not row["n"]:
                return
            await asyncio.sleep(0.25)


def _killed(deployment: Deployment, texts: list[str]) -> Figures:
    """Let students talk while workers, Redis and API are killed; then count."""
    midjob = 0
    deployment.start_api()
    deployment.start_workers(2)
    talkers = harness.enrolled(deployment.settings, deployment.ports[0], [f"talker-{i}" for i in range(TALKERS)])
    with talking(talkers, texts, PAUSE_BETWEEN):
        for kill in range(WORKER_KILLS):
            print_line(f"kill {kill + 1} of {WORKER_KILLS}")
            midjob += asyncio.run(_kill_worker(deployment))
            if kill % 5 == 2:
                harness.killed(deployment.others["redis"])
                sleep(1.0)
                deployment.start_redis()
            if kill % 5 == 4:
                harness.killed(deployment.others["api"])
                deployment.start_api()
    return {"kills": WORKER_KILLS, "kills_midjob": midjob} | asyncio.run(_count_jobs(deployment))


async def _kill_worker(deployment: Deployment) -> bool:
    """Kill the next worker that is seen at a job, and start another one; return whether it died holding a lease."""
    async with open_graph(deployment.settings, print_line) as graph:
        victim = await _at_a_job(graph, deployment.workers)
        harness.killed(victim)
        at_a_job = str(victim.pid) in await _leasing(graph)
    deployment.workers.remove(victim)
    await asyncio.to_thread(deployment.start_workers, 1)
    return at_a_job


async def _leasing(graph: Graph) -> set[str]:
    """Return process ids of the workers that hold a lease."""
    return {row["lease"].partition("-")[0] for row in await _bench_rows(graph, "jobs_leases")}


async def _at_a_job(graph: Graph, workers: list[Popen[bytes]]) -> Popen[bytes]:
    deadline = monotonic() + JOBS_PATIENCE
    while monotonic() < deadline:
        pids = await _leasing(graph)
        for worker in workers:
            if str(worker.pid) in pids:
                return worker
    raise SetupError("No worker takes up a job: run `graphmem doctor`.")


async def _count_jobs(deployment: Deployment) -> Figures:
    async with open_graph(deployment.settings, print_line) as graph:
        with suppress(TimeoutError):
            await _await_done(graph)
        (left,), (found,) = await _bench_rows(graph, "jobs_not_done"), await _bench_rows(graph, "jobs_effects")
    return {name: float(found[name]) for name in ("jobs", "turns", "doubled")} | {"lost": float(left["n"])}


def _wait_until_ready(worker: Popen[bytes]) -> None:
    lines = iter(worker.stderr or [])
    for line in lines:
        if READY in line:
            # Its further lines are of no interest, but must not fill the pipe.
            threading.Thread(target=lambda: [None for _ in lines], daemon=True).start()
            return
    raise SetupError("A worker did not start: run `graphmem doctor`.")
