"""A Neo4j for each process of a test run, started by the first test that needs it and stopped after the last.

A guardian, which is a process of its own, runs it. Whoever tests holds a lock on a file; the guardian waits for
it. The system frees the locks of a process that ends, so the guardian stops the Neo4j also where a run is interrupted
or killed.
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
def own_neo4j(folder: Path) -> Iterator[Access]:
    """A Neo4j of the process that names this folder, until the block ends."""
    with (folder / "user.lock").open("a") as user:
        fcntl.flock(user, fcntl.LOCK_EX)
        _start_guardian(folder)
        yield Access(**json.loads((folder / "access.json").read_text("utf-8")))


def _start_guardian(folder: Path) -> None:
    """Start the guardian and wait until its Neo4j answers."""
    log, mark = folder / "guardian.log", str(folder)
    command = [sys.executable, "-m", "tests.support.own_neo4j", mark]
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
    """Run a Neo4j, tell its address in a file, and stop it once its user is gone."""
    written = folder / "access.json.new"
    with (folder / "user.lock").open("a") as user, _running() as access:
        written.write_text(json.dumps(asdict(access)), "utf-8")
        written.chmod(0o600)
        written.rename(folder / "access.json")
        fcntl.flock(user, fcntl.LOCK_EX)


if __name__ == "__main__":
    guard(Path(sys.argv[1]))
