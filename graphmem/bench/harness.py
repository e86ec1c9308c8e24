"""Shared benchmark harness: a throwaway database, a served API, and students who talk over HTTP."""

import http.client
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from graphmem.app import server_secret
from graphmem.bearer import make_token
from graphmem.client import Client
from graphmem.errors import GraphmemError, SetupError
from graphmem.local import server
from graphmem.model import Role
from graphmem.offline.exemplars import read_situations
from graphmem.samples.dialogues import dialogue_turns, load_dialogues
from graphmem.settings import Settings

BENCH_INSTITUTION = "bench"
# What an app asks of a turn; the demo asks for all there is.
HARNESS_TURN = """
mutation Turn($student: ID!, $turn: ID!, $text: String!) {
  handleTurn(studentId: $student, turnId: $turn, text: $text) {
    turnId reply degraded matched match surprise level importance repeated
    learnedFact { id text tags }
    nextPrediction { text neededInfo }
  }
}"""
PASSWORD = "a password of a benchmark"
API_START_SECONDS = 60.0


class NoAnswer(GraphmemError):
    """The API did not answer, or answered with an error."""


@dataclass
class HttpCaller:
    """One keep-alive connection to the API, with its tokens; blocking, for one thread."""

    port: int
    token: str
    session: str | None = None
    connection: http.client.HTTPConnection | None = None

    def call(self, query: str, **variables: Any) -> Any:
        """Run one operation and return the value of its one field.

        Raises
        ------
        NoAnswer    no connection, or an error in the answer
        """
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        if self.session is not None:
            headers["X-Graphmem-Session"] = self.session
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            self.connection.request("POST", "/graphql", json.dumps({"query": query, "variables": variables}), headers)
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


@dataclass(frozen=True)
class Talker:
    """A student with an open session."""

    student: str
    caller: HttpCaller

    def say(self, turn_id: str, text: str) -> Any:
        """One turn."""
        return self.caller.call(HARNESS_TURN, student=self.student, turn=turn_id, text=text)


def bearer_tokens(settings: Settings) -> tuple[str, str]:
    """An admin's and an app's bearer token."""
    secret, now = server_secret(settings), datetime.now(UTC)
    admin, app = (make_token(secret, BENCH_INSTITUTION, role, 36_000, now) for role in (Role.ADMIN, Role.APP))
    return admin, app


def enrolled(settings: Settings, port: int, names: list[str]) -> list[Talker]:
    """Enrol students and open their sessions."""
    (admin, app), address = bearer_tokens(settings), f"http://127.0.0.1:{port}"
    with Client(address, admin) as as_admin, Client(address, app) as as_app:
        for name in names:
            as_admin.enrol_student(name, PASSWORD)
        sessions = {name: as_app.open_session(name, PASSWORD) for name in names}
    return [Talker(name, HttpCaller(port, app, session.token)) for name, session in sessions.items()]


def messages(file: Path | None) -> list[str]:
    """Messages that the students of a benchmark send: real messages of students."""
    if file is None:
        return sorted({situation.answer for situation in read_situations()})
    return [turn.text for dialogue in load_dialogues(file) for turn in dialogue_turns(dialogue)]


@contextmanager
def own_database(settings: Settings) -> Iterator[Settings]:
    """Settings of a throwaway home with a running Neo4j of its own."""
    with server.throwaway(settings) as found:
        yield settings.model_copy(update={"home": found.home, "neo4j_uri": None})


def environment(settings: Settings, **more: str) -> dict[str, str]:
    """The environment in which a process has these settings' home."""
    own = {name: value for name, value in os.environ.items() if settings.neo4j_uri or name != "GRAPHMEM_NEO4J_URI"}
    # A benchmark observes faster than any app.
    return own | {"GRAPHMEM_HOME": str(settings.home), "GRAPHMEM_OBSERVATIONS_MINUTE": "0"} | more


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def start_api(settings: Settings, port: int, **more: str) -> subprocess.Popen[bytes]:
    """Start the API as a process and wait until it is ready."""
    command = [sys.executable, "-m", "graphmem", "serve", "--port", str(port)]
    process = subprocess.Popen(command, env=environment(settings, **more), stderr=subprocess.DEVNULL)
    deadline = monotonic() + API_START_SECONDS
    while monotonic() < deadline and process.poll() is None:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/readyz")
            if connection.getresponse().status == http.client.OK:
                return process
        except OSError:
            pass
        finally:
            connection.close()
        sleep(0.1)
    process.kill()
    raise SetupError("The API did not start: run `graphmem doctor`.")


@contextmanager
def served(settings: Settings, **more: str) -> Iterator[int]:
    """The API in a process of its own, stopped at the end; its port."""
    port = free_port()
    process = start_api(settings, port, **more)
    try:
        yield port
    finally:
        process.terminate()
        process.wait()
