"""Workers as processes of their own, with a real Redis, killed without warning: nothing is lost, nothing is doubled."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from graphmem.app import Graphmem, open_with_neo4j
from graphmem.bearer import make_token
from graphmem.flows import students
from graphmem.flows.observation import observe
from graphmem.flows.turn import Incoming, handle_turn
from graphmem.model import Observation, Role, SourceKind, Who
from graphmem.settings import Settings
from tests.conftest import PASSWORD
from tests.support.client import ENROL, OPEN, TURN, Client
from tests.support.own_neo4j import Access
from tests.support.redis_server import RedisServer, free_port, needs_redis
from tests.support.remembering import asked

READY = "graphmem worker is ready"
# A worker that was killed is followed soon, and what got lost is found soon.
HASTE = {
    "MODEL_TIMEOUT": "1",
    "JOBS_LEASE": "4",
    "JOBS_POLL": "0.2",
    "JOBS_QUIET": "0",
    "SWEEP_SECONDS": "1",
    # Other tests leave messages and jobs behind.
    "STRANDED_AFTER": "1000000",
    "JOBS_LATE": "1000000",
    "HEALTH_SECONDS": "10",
    "ARGON2_OPS": "1",
    "ARGON2_MIB": "8",
}


@dataclass
class Processes:
    """Processes of graphmem that a test started, with what they said."""

    folder: Path
    environment: dict[str, str]
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, *arguments: str, **settings: str) -> tuple[subprocess.Popen[bytes], Path]:
        said = self.folder / f"{uuid4().hex}.log"
        changed = self.environment | {f"GRAPHMEM_{name}": value for name, value in settings.items()}
        with said.open("wb") as log:
            process = subprocess.Popen([sys.executable, "-m", "graphmem", *arguments], env=changed, stderr=log)
        self.running.append(process)
        return process, said

    async def worker(self, **settings: str) -> subprocess.Popen[bytes]:
        process, said = self.start("worker", "--concurrency", "2", **settings)
        await until(lambda: READY in said.read_text() or process.poll() is not None)
        assert process.poll() is None, said.read_text()
        return process

    async def api(self, **settings: str) -> str:
        port = free_port()
        process, said = self.start("serve", "--port", str(port), **settings)
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http:
            while process.poll() is None:
                try:
                    if (await http.get("/readyz")).status_code == 200:
                        return f"http://127.0.0.1:{port}"
                except httpx.HTTPError:
                    await asyncio.sleep(0.1)
        raise AssertionError(said.read_text())


@pytest.fixture
async def own(neo4j_access: Access, tmp_path: Path) -> AsyncIterator[Graphmem]:
    """A graphmem with a secret of its own: the workers here can open no session of another test."""
    home = tmp_path / "home"
    settings = Settings(home=home, argon2_ops=1, argon2_mib=8, model_timeout=1.0, jobs_lease=4.0)
    async with open_with_neo4j(settings, neo4j_access.uri, neo4j_access.user, neo4j_access.password) as opened:
        yield opened


@pytest.fixture
def processes(own: Graphmem, neo4j_access: Access, tmp_path: Path) -> Iterator[Processes]:
    access = {
        "HOME": str(own.settings.home),
        "NEO4J_URI": neo4j_access.uri,
        "NEO4J_USER": neo4j_access.user,
        "NEO4J_PASSWORD": neo4j_access.password,
    }
    environment = os.environ | {f"GRAPHMEM_{name}": value for name, value in (access | HASTE).items()}
    started = Processes(tmp_path, environment)
    yield started
    for process in started.running:
        process.kill()
        process.wait()


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    needs_redis()
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.kill()


async def until(so: Callable[[], Any], seconds: float = 120) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(seconds):
        while True:
            if so():
                return
            await asyncio.sleep(0.02)


async def rows(gm: Graphmem, institution: str, query: str) -> list[dict[str, Any]]:
    return await asked(gm, Who(institution, ""), query)


async def all_done(gm: Graphmem, institution: str) -> None:
    """Wait until no job waits, and check that each took effect once: each raises its student's version by one."""
    waiting = "MATCH (j:Job {institution: $i}) WHERE j.state <> 'done' RETURN count(j) AS n"
    async with asyncio.timeout(150):
        while True:
            if not (await rows(gm, institution, waiting))[0]["n"]:
                break
            await asyncio.sleep(0.1)
    found = await rows(
        gm,
        institution,
        """MATCH (s:Student {institution: $i})
           RETURN s.memory_version AS effects,
                  COUNT { (j:Job {institution: $i, student_id: s.id}) } AS jobs,
                  COUNT { (f:Source {institution: $i, student_id: s.id}) WHERE f.formed_at IS NULL } AS unformed""",
    )
    assert found
    for student in found:
        assert student["effects"] == student["jobs"] > 0
        assert student["unformed"] == 0


async def holder(gm: Graphmem, institution: str, workers: list[subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    """A worker that is at a job right now."""
    leases = "MATCH (j:Job {institution: $i, state: 'waiting'}) WHERE j.lease IS NOT NULL RETURN DISTINCT j.lease AS l"
    async with asyncio.timeout(60):
        while True:
            at_it = {row["l"].partition("-")[0] for row in await rows(gm, institution, leases)}
            for worker in workers:
                if str(worker.pid) in at_it and worker.poll() is None:
                    return worker
            await asyncio.sleep(0.01)


async def some_done(gm: Graphmem, institution: str) -> None:
    """Wait until a job is done."""
    done = "MATCH (j:Job {institution: $i, state: 'done'}) RETURN count(j) AS n"
    async with asyncio.timeout(60):
        while True:
            if (await rows(gm, institution, done))[0]["n"]:
                return
            await asyncio.sleep(0.01)


async def busy_student(gm: Graphmem, who: Who, jobs: int) -> None:
    """A student of whom much is to be formed as soon as the session is open, which it is when this returns."""
    await students.enrol(gm, who, PASSWORD)
    now = gm.clock()
    texts = [f"On day {i} I swam {i + 2} lanes in the lake of {who.student_id}." for i in range(jobs)]
    noted = [Observation(SourceKind.LESSON, f"r{i}", text, now) for i, text in enumerate(texts)]
    await observe(gm, who, noted)
    await students.open_session(gm, who, PASSWORD)


async def test_two_replicas_and_two_workers_do_every_job_once(
    own: Graphmem, processes: Processes, redis: RedisServer, institution: str
) -> None:
    first, second, *_ = await asyncio.gather(
        processes.api(BROKER=redis.address),
        processes.api(BROKER=redis.address),
        processes.worker(BROKER=redis.address),
        processes.worker(BROKER=redis.address),
    )
    tokens = {role: make_token(own.secret, institution, role, 600, own.clock()) for role in (Role.APP, Role.ADMIN)}
    async with (
        httpx.AsyncClient(base_url=first, timeout=60) as one,
        httpx.AsyncClient(base_url=second, timeout=60) as two,
    ):
        assert (await one.get("/healthz")).json()["broker"] == "redis"

        async def talks(student: str) -> None:
            await Client(one, tokens[Role.ADMIN]).call(ENROL, student=student, password=PASSWORD)
            session = (await Client(two, tokens[Role.APP]).call(OPEN, student=student, password=PASSWORD))["token"]
            for i in range(5):
                client = Client((one, two)[i % 2], tokens[Role.APP], session)
                text = f"My cousin number {i} collects {i + 3} stamps in Oslo."
                await client.call(TURN, student=student, turn=f"t{i}", text=text)

        await asyncio.gather(*map(talks, ("ann", "bob", "eve")))
        await all_done(own, institution)
        redis.kill()
        health = await one.get("/healthz")
        assert (health.status_code, health.json()["status"], health.json()["broker"]) == (200, "yellow", "away")


async def test_killed_workers_and_redis_lose_and_double_nothing(
    own: Graphmem, processes: Processes, redis: RedisServer, institution: str
) -> None:
    workers = list(await asyncio.gather(*(processes.worker(BROKER=redis.address) for _ in range(2))))
    ann = Who(institution, "student-0")
    for kill in range(3):
        await busy_student(own, Who(institution, f"student-{kill}"), 40)
        victim = await holder(own, institution, workers)
        victim.kill()
        victim.wait()
        if kill == 1:
            redis.kill()
            redis.start()
        workers[workers.index(victim)] = await processes.worker(BROKER=redis.address)
    # What an API leaves behind that dies between a turn's commit and its word to the workers.
    _, session = await students.open_session(own, ann, PASSWORD)
    await handle_turn(own, session, Incoming("t1", "My aunt Ilse keeps 9 tame otters in Bergen.", own.clock()))
    await all_done(own, institution)


async def test_a_worker_that_is_told_to_stop_finishes_what_it_is_at(
    own: Graphmem, processes: Processes, institution: str
) -> None:
    worker = await processes.worker()
    await busy_student(own, Who(institution, "ann"), 40)
    # Jobs that a worker has claimed and not begun are given back: it is at something once one is done.
    await some_done(own, institution)
    worker.send_signal(signal.SIGTERM)
    assert await asyncio.to_thread(worker.wait, 60) == 0
    found = await rows(own, institution, "MATCH (j:Job {institution: $i}) RETURN properties(j) AS j")
    assert not any("lease" in row["j"] or row["j"]["attempts"] for row in found)
    assert {row["j"]["state"] for row in found} == {"waiting", "done"}
    # Another one goes on at once, without a Redis that tells it.
    await processes.worker()
    await all_done(own, institution)


async def test_when_redis_is_away_turns_go_on_and_the_log_says_so_once(
    own: Graphmem, processes: Processes, redis: RedisServer, institution: str
) -> None:
    redis.kill()
    address = await processes.api(BROKER=redis.address)
    said = processes.folder
    token = make_token(own.secret, institution, Role.APP, 600, own.clock())
    await students.enrol(own, Who(institution, "ann"), PASSWORD)
    session_token, _ = await students.open_session(own, Who(institution, "ann"), PASSWORD)
    async with httpx.AsyncClient(base_url=address, timeout=60) as http:
        client = Client(http, token, session_token)
        for i in range(4):
            await client.call(TURN, student="ann", turn=f"t{i}", text=f"My cousin number {i} has {i + 3} owls in Oslo.")
            await asyncio.sleep(0.5)
        logged = "".join(log.read_text() for log in said.glob("*.log"))
        assert logged.count("jobs cannot be sent") == 1
        assert "owls" not in logged
        jobs = await rows(own, institution, "MATCH (j:Job {institution: $i}) RETURN j.state AS state")
        assert len(jobs) >= 4
        assert {job["state"] for job in jobs} == {"waiting"}
        redis.start()
        await processes.worker(BROKER=redis.address)
        await all_done(own, institution)
        await until(lambda: "jobs can be sent again" in "".join(log.read_text() for log in said.glob("*.log")))


async def test_a_worker_serves_its_metrics_at_a_port(processes: Processes) -> None:
    port = free_port()
    worker = await processes.worker(WORKER_METRICS_PORT=str(port))
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http:
        numbers = ""
        for _ in range(600):
            numbers = (await http.get("/metrics")).text
            if 'graphmem_jobs{kind="form",state="waiting"}' in numbers:
                break
            await asyncio.sleep(0.1)
    assert 'graphmem_jobs{kind="form",state="waiting"}' in numbers
    assert "graphmem_open_sessions" in numbers
    worker.terminate()
    assert await asyncio.to_thread(worker.wait, 60) == 0
