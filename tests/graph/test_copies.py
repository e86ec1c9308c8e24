"""A readable copy of a student does not outlive `inspect`, however that ends."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from graphmem.commands.backup import copy_database
from graphmem.errors import SetupError
from graphmem.local.process import is_running
from graphmem.local.server import NOTE, noted_copy, remove_left_copy
from graphmem.settings import Settings
from tests.graph.test_local_neo4j import seeded

OPEN = """
import sys
from graphmem.commands.backup import copy_database
from graphmem.settings import Settings
with copy_database(Settings(), print) as (settings, neo4j):
    print("open", neo4j.pid, settings.home, flush=True)
    sys.stdin.read()
"""


@contextmanager
def opened(home: Path) -> Iterator[tuple["subprocess.Popen[str]", int, Path]]:
    """A process that has a readable copy open, until it is killed; its Neo4j, and the copy's home."""
    env = os.environ | {"GRAPHMEM_HOME": str(home)}
    command = [sys.executable, "-c", OPEN]
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = next(line for line in process.stdout if line.startswith("open "))
        _, pid, copy = line.split()
        yield process, int(pid), Path(copy)
        process.kill()


def within(seconds: float, true: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.1)
    return true()


def runs(pid: int, copy: Path) -> bool:
    return is_running(pid, f"--home-dir={copy / 'neo4j'}")


def test_killed_its_neo4j_ends_and_its_folder_goes(tmp_path: Path) -> None:
    settings = seeded(tmp_path / "home")
    with opened(settings.home) as (_, pid, copy):
        assert runs(pid, copy)
        with pytest.raises(SetupError, match="another window"), copy_database(settings, print):
            pass
    assert within(120, lambda: not copy.exists())
    assert not runs(pid, copy)
    assert (settings.home / NOTE).exists()
    assert remove_left_copy(settings, print)
    assert not (settings.home / NOTE).exists()


def test_killed_with_its_watch_the_next_status_removes_it(tmp_path: Path) -> None:
    settings = seeded(tmp_path / "home")
    with opened(settings.home) as (process, pid, copy):
        for watch in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
            os.kill(int(watch), signal.SIGKILL)
    time.sleep(2)
    assert runs(pid, copy)
    told = graphmem(settings.home, "status")
    assert "left behind" in told.stderr
    assert not runs(pid, copy)
    assert not copy.exists()
    assert not (settings.home / NOTE).exists()


def graphmem(home: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    nowhere = {"GRAPHMEM_NEO4J_URI": "bolt://127.0.0.1:1", "GRAPHMEM_NEO4J_PASSWORD": "x"}
    env = os.environ | {"GRAPHMEM_HOME": str(home)} | nowhere
    return subprocess.run([sys.executable, "-m", "graphmem", *command], env=env, capture_output=True, text=True)


@pytest.mark.parametrize("command", ["status", "doctor", "serve"])
def test_what_was_left_is_removed_by_whatever_looks_next(tmp_path: Path, command: str) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "words").write_text("what the student said")
    (tmp_path / NOTE).write_text(json.dumps({"home": str(copy)}))
    told = graphmem(tmp_path, command)
    assert "left behind" in told.stdout + told.stderr
    assert not copy.exists()
    assert not (tmp_path / NOTE).exists()
    copy.mkdir()
    with noted_copy(Settings(home=tmp_path), copy):
        told = graphmem(tmp_path, command)
        assert "left behind" not in told.stdout + told.stderr
        assert copy.exists()
