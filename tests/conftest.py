"""What tests stand on: one real Neo4j and one open graphmem a process, the API on a free port, a fresh student each."""

import asyncio
import gc
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import hypothesis
import pytest
import uvicorn

from graphmem import limits
from graphmem.app import Graphmem, open_with_neo4j
from graphmem.background import Background
from graphmem.bearer import make_token
from graphmem.cache import SessionCache, WorldCache
from graphmem.flows import students
from graphmem.flows.turn import Incoming, handle_turn
from graphmem.limits import PasswordChecks
from graphmem.local import server
from graphmem.local.server import LocalNeo4j
from graphmem.model import Role, Session, TurnOutcome, Who
from graphmem.notifier import JobNotifier
from graphmem.settings import Settings
from graphmem_api.main import make_app, server_config
from tests.support.client import Client
from tests.support.own_neo4j import Access, own_neo4j

PASSWORD = "a password of a test"

# Other tests run at the same time: how long one example takes tells nothing. Speed lives in `bench/`.
hypothesis.settings.register_profile("beside others", deadline=None)
# What `make test-unit` takes, for a first answer.
hypothesis.settings.register_profile("quick", deadline=None, max_examples=20)
hypothesis.settings.load_profile("beside others")

# Nothing here speaks TLS, and every HTTP client would read all certificates of this machine first (30 ms).
os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent / "data")

# A Neo4j of a test lives for minutes: Java's second compiler would take more work (a third of all) than it saves.
os.environ.setdefault("_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -Xms512m -Xmn200m")

# Many tests try wrong passwords, on a busy machine.
limits.WRONG_A_MINUTE, limits.QUEUE_SECONDS = 100_000, 60.0

# Statements would be planned anew each time the database has grown: two fifths of what they take in tests.
os.environ.setdefault(
    "GRAPHMEM_NEO4J_CONFIG", "dbms.cypher.min_replan_interval=12h dbms.cypher.statistics_divergence_threshold=1.0"
)


def pytest_collection_finish() -> None:
    """Leave what is imported by now out of every later look for garbage."""
    gc.freeze()


@dataclass(frozen=True)
class Pupil:
    """An enrolled student with an open session."""

    who: Who
    password: str
    session: Session
    token: str


@pytest.fixture(scope="session")
def neo4j_access(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Access]:
    """GRAPHMEM_TEST_NEO4J_URI, else a container where an engine answers, else a throwaway local Neo4j."""
    if uri := os.environ.get("GRAPHMEM_TEST_NEO4J_URI"):
        env = os.environ
        yield Access(uri, env.get("GRAPHMEM_TEST_NEO4J_USER", "neo4j"), env["GRAPHMEM_TEST_NEO4J_PASSWORD"])
    else:
        with own_neo4j(tmp_path_factory.mktemp("neo4j")) as access:
            yield access


@pytest.fixture(scope="session")
def spare_neo4j() -> Iterator[LocalNeo4j]:
    """A Neo4j beside the run's own, for tests that need a database with nothing else in it: they empty it first."""
    with server.throwaway(Settings()) as found:
        yield found


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings of a home of the run's own, with passwords that are quick to check."""
    home = tmp_path_factory.mktemp("home")
    # Tests leave jobs behind that nobody runs, and may run on a busy machine.
    return Settings(
        home=home,
        argon2_ops=1,
        argon2_mib=8,
        neo4j_timeout=30.0,
        sweep_seconds=3600,
        sealing_off="clear-*",
        jobs_late=1e9,
        jobs_quiet=0.0,
        health_seconds=10.0,
    )


@pytest.fixture(scope="session")
async def gm(settings: Settings, neo4j_access: Access) -> AsyncIterator[Graphmem]:
    """An open graphmem with the offline mind."""
    async with open_with_neo4j(settings, neo4j_access.uri, neo4j_access.user, neo4j_access.password) as opened:
        yield opened


@pytest.fixture
def replica(gm: Graphmem) -> Graphmem:
    """A second replica on the same database: it shares nothing that a process holds."""
    return another_replica(gm)


def another_replica(gm: Graphmem, **changes: Any) -> Graphmem:
    """The same graphmem as another process would have it: own caches, own locks."""
    own: dict[str, Any] = {
        "cache": SessionCache(2**30),
        "worlds": WorldCache(4),
        "background": Background(JobNotifier(changes.get("settings", gm.settings))),
        "passwords": PasswordChecks(),
    }
    return replace(gm, **(own | changes))


@pytest.fixture
def institution(request: pytest.FixtureRequest) -> str:
    """An institution nobody else has; named `clear` where the test asks for one whose students are not sealed."""
    return f"{getattr(request, 'param', 'school')}-{uuid4().hex}"


BOTH_FORMS = pytest.mark.parametrize("institution", ["school", "clear"], indirect=True)
"""For tests that are to hold of sealed students and of those that are not."""


Enrol = Callable[[str], Coroutine[Any, Any, Pupil]]


@pytest.fixture
def enrol(gm: Graphmem, institution: str) -> Enrol:
    """Enrol students and open their sessions."""

    async def enrolled(student_id: str) -> Pupil:
        who = Who(institution, student_id)
        await students.enrol(gm, who, PASSWORD, f"Name of {student_id}")
        token, session = await students.open_session(gm, who, PASSWORD)
        return Pupil(who, PASSWORD, session, token)

    return enrolled


@pytest.fixture
async def ann(enrol: Enrol) -> Pupil:
    """A fresh student with an open session."""
    return await enrol("ann")


@pytest.fixture
async def nobody_else(gm: Graphmem, institution: str) -> None:
    """Nothing waits of the students of other tests: what serves every student has those of this test alone."""
    waiting = "WHERE n.institution <> $i CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS"
    for nodes in ("(n:OpenSession|Job|ManifestNote|PasswordTry)", "(n:Turn {state: 'received'})"):
        await gm.graph.execute(f"MATCH {nodes} {waiting}", {"i": institution}, reads=False)


async def say(gm: Graphmem, pupil: Pupil, text: str, turn_id: str | None = None, **more: Any) -> TurnOutcome:
    """One turn of a student."""
    at = more.pop("at", None) or datetime.now(UTC)
    given = {name: more.pop(name) for name in ("reply", "task", "opener", "used") if name in more}
    incoming = Incoming(turn_id or uuid4().hex, text, at, **given)
    return await handle_turn(gm, pupil.session, incoming, **more)


@asynccontextmanager
async def served(gm: Graphmem) -> AsyncIterator[str]:
    """The API on a free port of 127.0.0.1; its address, of `localhost` where it speaks TLS."""
    app = uvicorn.Server(server_config(make_app(gm), gm.settings, host="127.0.0.1", port=0, log_level="error"))
    app.capture_signals = _no_signals  # type: ignore[method-assign]
    task = asyncio.create_task(app.serve())
    while not app.started:
        await asyncio.sleep(0.01)
        if task.done():
            task.result()
    port = app.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}" if gm.settings.tls_key is None else f"https://localhost:{port}"
    finally:
        app.should_exit = True
        await task


def _no_signals() -> Any:
    from contextlib import nullcontext

    return nullcontext()


@pytest.fixture(scope="session")
async def api(gm: Graphmem) -> AsyncIterator[str]:
    """Address of the API of this run."""
    async with served(gm) as address:
        yield address


@pytest.fixture
async def http(api: str) -> AsyncIterator[httpx.AsyncClient]:
    """A connection to the API."""
    async with httpx.AsyncClient(base_url=api, timeout=30) as client:
        yield client


@pytest.fixture
def bearer(gm: Graphmem, institution: str) -> Callable[[Role], str]:
    """Bearer tokens of the test's own institution, for longer than any test takes."""
    return lambda role: make_token(gm.secret, institution, role, 3600, datetime.now(UTC))


@pytest.fixture
def app_client(http: httpx.AsyncClient, bearer: Callable[[Role], str], ann: Pupil) -> Client:
    """An app with Ann's session."""
    return Client(http, bearer(Role.APP), ann.token)
