"""A real Redis of a test's own, on a free port."""

import os
import shutil
import socket
import subprocess
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep

import pytest

INSTALL = "redis-server is not installed: `apt-get install redis-server`, or your system's package of that name."


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@dataclass
class RedisServer:
    """Redis, which can be killed and started again; it keeps nothing over a kill."""

    folder: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self.process = subprocess.Popen([*command, "--dir", str(self.folder)], stdout=subprocess.DEVNULL)
        deadline = monotonic() + 30
        while monotonic() < deadline:
            with closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            sleep(0.05)
        raise TimeoutError("redis-server did not start")

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def needs_redis() -> None:
    """In CI a missing Redis fails; on a user's machine the tests that need it are skipped."""
    if shutil.which("redis-server") is None:
        if os.environ.get("CI"):
            pytest.fail(INSTALL)
        pytest.skip(INSTALL)
