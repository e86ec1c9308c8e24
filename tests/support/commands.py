"""Commands of `graphmem` as processes of their own, forked from one that has imported everything already.

Importing takes most of the time of a short command, and the tests run a hundred of them.
"""

import asyncio
import multiprocessing
import os
import sys
from collections.abc import Coroutine, Mapping
from multiprocessing.context import ForkServerContext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

PRELOADED = ["graphmem.cli", "graphmem.runtime", "graphmem_api.main", "onnxruntime"]
STREAMS = ("in", "out", "err")


class Command(Protocol):
    """Runs a command with standard input; exit code, output, errors."""

    def __call__(self, *arguments: str, said: str = "", **changes: str) -> Coroutine[None, None, tuple[int, str, str]]:
        """`changes` are changes of the environment."""


def commands(environment: Mapping[str, str]) -> Command:
    """What runs commands in an environment."""

    async def run(*arguments: str, said: str = "", **changes: str) -> tuple[int, str, str]:
        with TemporaryDirectory() as folder:
            paths = [Path(folder) / name for name in STREAMS]
            paths[0].write_text(said, "utf-8")
            process = _server().Process(target=_command, args=(arguments, {**environment, **changes}, paths))
            process.start()
            await asyncio.to_thread(process.join)
            code = process.exitcode
            process.close()
            return code or 0, paths[1].read_text("utf-8"), paths[2].read_text("utf-8")

    return run


def _server() -> ForkServerContext:
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(PRELOADED)
    return server


def _command(arguments: tuple[str, ...], environment: dict[str, str], paths: list[Path]) -> None:
    """Become a process that runs a command."""
    for number, path in enumerate(paths):
        opened = os.open(path, os.O_RDWR | os.O_CREAT)
        os.dup2(opened, number)
        os.close(opened)
    # The stream of a child of the server reads from nowhere.
    sys.stdin = os.fdopen(0, encoding="utf-8")
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["graphmem", *arguments]
    from graphmem.cli import main

    main()
