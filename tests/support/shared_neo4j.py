"""One Neo4j for all processes of a test run, started by the first that needs it and stopped after the last.

A guardian, which is a process of its own, runs it. Each process of the run holds a shared lock on one file while it
uses the Neo4j; the guardian waits for the exclusive lock. The system frees the locks of a process that ends, so the
guardian stops the Neo4j also where a run is interrupted or killed.

`turn` is how tests take turns on it: most run side by side, some need it to themselves.
"""

import fcntl
import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from graphmem.local import process, server
from graphmem.settings import Settings

ROOT = Path(__file__).parents[2]
START_SECONDS = 600.0  # the first one fetches its jars


@dataclass(frozen=True)
class Access:
    """A Neo4j to test on."""

    uri: str
    user: str
    password: str
    home: str | None = None
    """Where its files lie, if it is a local one."""


@contextmanager
def shared_neo4j(folder: Path) -> Iterator[Access]:
    """The Neo4j of all processes that name the same folder: started if nobody has, stopped after the last of them."""
    with _locked(folder / "users.lock", fcntl.LOCK_SH):
        found = folder / "access.json"
        with _locked(folder / "start.lock", fcntl.LOCK_EX):
            if not found.exists():
                _start_guardian(folder)
        yield Access(**json.loads(found.read_text("utf-8")))


@contextmanager
def turn(folder: Path, *, alone: bool) -> Iterator[None]:
    """A time in which a test may use the Neo4j, beside other processes of the run or alone."""
    # Who waits to be alone holds the gate, else the others could keep it waiting for ever.
    with (folder / "gate.lock").open("a") as gate, (folder / "turn.lock").open("a") as held:
        fcntl.flock(gate, fcntl.LOCK_EX)
        fcntl.flock(held, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(gate, fcntl.LOCK_UN)
        yield


@contextmanager
def _locked(path: Path, how: int) -> Iterator[None]:
    with path.open("a") as file:
        fcntl.flock(file, how)
        yield


def _start_guardian(folder: Path) -> None:
    """Start the guardian and wait until its Neo4j answers."""
    log, mark = folder / "guardian.log", str(folder)
    command = [sys.executable, "-m", "tests.support.shared_neo4j", mark]
    pid = process.start_detached(command, ROOT, log, dict(os.environ))
    deadline = time.monotonic() + START_SECONDS
    while not (folder / "access.json").exists():
        if not process.is_running(pid, mark) or time.monotonic() > deadline:
            raise RuntimeError(f"no Neo4j to test on:\n{log.read_text('utf-8')}")
        time.sleep(0.05)


@contextmanager
def _running() -> Iterator[Access]:
    """A container where an engine answers, else a throwaway local Neo4j."""
    if _container_engine_answers():
        from testcontainers.neo4j import Neo4jContainer

        with Neo4jContainer("neo4j:2026.08.1", password="graphmem-tests") as container:
            yield Access(container.get_connection_url(), "neo4j", "graphmem-tests")
    else:
        with server.throwaway(Settings()) as found:
            yield Access(found.bolt_uri, found.user, found.password, str(found.home))


def _container_engine_answers() -> bool:
    """Whether a Docker engine listens on its usual socket."""
    path = Path("/var/run/docker.sock")
    if not path.is_socket():
        return False
    with socket.socket(socket.AF_UNIX) as engine:
        return engine.connect_ex(str(path)) == 0


def guard(folder: Path) -> None:
    """Run a Neo4j, tell its address in a file, and stop it once nobody uses it."""
    found, written = folder / "access.json", folder / "access.json.new"
    # The lock is held until the Neo4j is gone: who comes late waits, and then starts another.
    with (folder / "users.lock").open("a") as users, _running() as access:
        written.write_text(json.dumps(asdict(access)), "utf-8")
        written.chmod(0o600)
        written.rename(found)
        fcntl.flock(users, fcntl.LOCK_EX)
        found.unlink()


if __name__ == "__main__":
    guard(Path(sys.argv[1]))
