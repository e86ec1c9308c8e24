"""Shared by all benchmarks: a throwaway database, a served API, students who talk to either, and progress."""

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TypeVar

import httpx
import numpy as np

from graphmem.app import Graphmem, server_secret
from graphmem.bearer import make_token
from graphmem.bench import Figures, figure_lines
from graphmem.errors import GraphmemError, InvalidInput, SetupError
from graphmem.flows import students
from graphmem.flows.observation import observe
from graphmem.flows.session_cache import open_memories
from graphmem.flows.turn import Incoming, handle_turn
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.local import server
from graphmem.local.process import free_ports
from graphmem.model import Memory, Observation, Role, Session, TurnOutcome, Who
from graphmem.offline.exemplars import read_situations
from graphmem.progress import print_line, tracked
from graphmem.runtime import open_graphmem, run_fast
from graphmem.samples.dialogues import dialogue_turns, load_dialogues
from graphmem.settings import Settings
from graphmem.store import queries
from graphmem.validation import PAGE_SIZE
from graphmem_client import Client

T = TypeVar("T")

BENCH_INSTITUTION = "bench"
PASSWORD = "a password of a benchmark"
API_START_SECONDS = 600.0
LONG_SESSIONS = {"session_minutes": 1e5, "session_hours": 2e4}
"""Sessions by the real time outlast histories of months."""
# The fields that an app asks of a turn; the demo asks for all there are.
HARNESS_TURN = """
mutation Turn($student: ID!, $turn: ID!, $text: String!) {
  handleTurn(studentId: $student, turnId: $turn, text: $text) {
    turnId reply degraded matched match surprise level importance repeated
    learnedFact { id text tags }
    nextPrediction { text neededInfo }
  }
}"""
WAITING_JOBS = "query Waiting($student: ID!) { student(id: $student) { waitingJobs } }"


class NoAnswer(GraphmemError):
    """The API did not answer, or answered with an error."""


def show_figures(figures: Figures) -> Figures:
    """Print figures on standard error as soon as they are taken, and return them."""
    print_line("\n".join(figure_lines(figures)))
    return figures


def statement(name: str) -> str:
    """Return a statement of the benchmarks' own, by the name of its file in `cypher/bench/`."""
    return "CYPHER 25\n" + queries.read(f"bench/{name}")


def latencies(seconds: Sequence[float], prefix: str = "", suffix: str = "", high: int = 95) -> Figures:
    """Compute p50 and a high percentile in milliseconds.

    Examples
    --------
    >>> latencies([0.001, 0.002, 0.003], suffix="@16")["p50_ms@16"]
    2.0
    """
    return {f"{prefix}p{q}_ms{suffix}": 1000 * float(np.percentile(seconds, q)) for q in (50, high)}


# A graphmem in this process, and a student of it.


@contextmanager
def own_database(settings: Settings) -> Iterator[Settings]:
    """Settings of a throwaway home with a running Neo4j of its own."""
    with server.throwaway(settings) as found:
        yield settings.model_copy(update={"home": found.home, "neo4j_uri": None})


def in_process(settings: Settings, measure: Callable[[Graphmem], Coroutine[Any, Any, T]], **changes: object) -> T:
    """Run a measurement on a graphmem in this process, with a throwaway database.

    Parameters
    ----------
    settings : Settings
    measure : coroutine function
    changes : settings that differ; sessions are long anyhow
    """

    async def whole(own: Settings) -> T:
        async with open_graphmem(own, say=print_line, background=False) as gm:
            return await measure(gm)

    with own_database(settings) as own:
        return run_fast(whole(own.model_copy(update=LONG_SESSIONS | changes)))


@dataclass
class Learner:
    """A student in this process who lives by a clock of their own, which stands at `now`; `gm` has that clock.

    It runs ahead of the real time, by which caches expire.
    """

    gm: Graphmem
    who: Who
    now: datetime
    open: Session | None = None

    def __post_init__(self) -> None:
        self.gm = replace(self.gm, clock=lambda: self.now)

    @property
    def session(self) -> Session:
        """The running session."""
        if self.open is None:
            raise InvalidInput("Begin a session first.")
        return self.open

    async def begin(self) -> Session:
        """Open a session; one that runs is closed before."""
        await self.end()
        _, self.open = await students.open_session(self.gm, self.who, PASSWORD)
        return self.open

    async def say(self, turn: Incoming) -> TurnOutcome:
        """Handle one turn and run its jobs."""
        outcome = await handle_turn(self.gm, self.session, turn)
        await run_jobs(self.gm, self.session)
        return outcome

    async def observe(self, observations: Sequence[Observation]) -> None:
        """Note observations and form their memories."""
        for first in tracked(range(0, len(observations), PAGE_SIZE), f"Observing as {self.who.student_id}"):
            await observe(self.gm, self.who, observations[first : first + PAGE_SIZE])
            await run_jobs(self.gm, self.session)

    async def memories(self) -> list[Memory]:
        """List every memory, newest first."""
        index = (await open_memories(self.gm, self.session)).index
        return index.latest(len(index))

    async def end(self) -> None:
        """Close the running session, if any, and wait for the work that its end causes."""
        if self.open is not None:
            await close_session(self.gm, self.open, wait=True)
            self.open = None


async def learner(gm: Graphmem, name: str, institution: str = BENCH_INSTITUTION, called: str | None = None) -> Learner:
    """Enrol a student of a graphmem in this process."""
    who = Who(institution, name)
    await students.enrol(gm, who, PASSWORD, called)
    return Learner(gm, who, gm.clock())


# A served API, and students who talk to it.


@dataclass
class Talker:
    """A student with an open session at the API: one keep-alive connection, blocking, for one thread."""

    student: str
    port: int
    token: str
    session: str
    connection: http.client.HTTPConnection | None = None

    def say(self, turn_id: str, text: str) -> Any:
        """Send one turn."""
        return self.call(HARNESS_TURN, turn=turn_id, text=text)

    def waiting_jobs(self) -> int:
        """Return how many jobs are not done."""
        return int(self.call(WAITING_JOBS)["waitingJobs"])

    def call(self, query: str, **variables: Any) -> Any:
        """Run one operation of this student and return the value of its one field.

        Raises
        ------
        NoAnswer    no connection, or an error in the answer
        """
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        body = json.dumps({"query": query, "variables": variables | {"student": self.student}})
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            self.connection.request("POST", "/graphql", body, headers | {"X-Graphmem-Session": self.session})
            answer = json.loads(self.connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError) as e:
            self.close()
            raise NoAnswer(f"The API did not answer: {type(e).__name__}.") from e
        if answer.get("errors"):
            error = answer["errors"][0]
            raise NoAnswer(f"{error['extensions']['code']}: {error['message']}")
        (value,) = answer["data"].values()
        return value

    def close(self) -> None:
        """Hang up."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def enrolled(settings: Settings, port: int, names: list[str]) -> list[Talker]:
    """Enrol students at the API and open their sessions."""
    secret, now, address = server_secret(settings), datetime.now(UTC), f"http://127.0.0.1:{port}"
    admin, app = (make_token(secret, BENCH_INSTITUTION, role, 36_000, now) for role in (Role.ADMIN, Role.APP))
    with Client(address, admin) as as_admin, Client(address, app) as as_app:
        for name in names:
            as_admin.enrol_student(name, PASSWORD)
        sessions = {name: as_app.open_session(name, PASSWORD) for name in names}
    return [Talker(name, port, app, session.token) for name, session in sessions.items()]


def messages(file: Path | None) -> list[str]:
    """Return real messages of students, from a file or from the shipped samples."""
    if file is None:
        return sorted({situation.answer for situation in read_situations()})
    return [turn.text for dialogue in load_dialogues(file) for turn in dialogue_turns(dialogue)]


def environment(settings: Settings, **more: str) -> dict[str, str]:
    """Return the environment in which a process has these settings' home."""
    own = {name: value for name, value in os.environ.items() if settings.neo4j_uri or name != "GRAPHMEM_NEO4J_URI"}
    # A benchmark observes faster than any app.
    return own | {"GRAPHMEM_HOME": str(settings.home), "GRAPHMEM_OBSERVATIONS_MINUTE": "0"} | more


def start_api(settings: Settings, port: int, **more: str) -> subprocess.Popen[bytes]:
    """Start the API as a process and wait until it is ready."""
    command = [sys.executable, "-m", "graphmem", "serve", "--port", str(port)]
    process = subprocess.Popen(command, env=environment(settings, **more), stderr=subprocess.DEVNULL)
    deadline = monotonic() + API_START_SECONDS
    while monotonic() < deadline and process.poll() is None:
        with suppress(httpx.HTTPError):
            if httpx.get(f"http://127.0.0.1:{port}/readyz", trust_env=False).is_success:
                return process
        sleep(0.1)
    process.kill()
    raise SetupError("The API did not start: run `graphmem doctor`.")


def killed(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and wait for its end."""
    process.kill()
    process.wait()


@contextmanager
def served(settings: Settings, **more: str) -> Iterator[int]:
    """Serve the API in a process of its own, stopped at the end; yield its port."""
    (port,) = free_ports(1)
    process = start_api(settings, port, **more)
    try:
        yield port
    finally:
        process.terminate()
        process.wait()
