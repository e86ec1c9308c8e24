"""Processes, ports and private files of this machine."""

import errno
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from os import kill
from pathlib import Path

import psutil

from graphmem.errors import SetupError

HOST = "127.0.0.1"
PROCESS_POLL = 0.05  # seconds between two looks
BOLT_HELLO = bytes.fromhex("6060b017 00000005 00000004 00000000 00000000")  # magic, then the versions offered

# The shell starts the program in the background and ends, so the program belongs to nobody here: Ctrl-C in the
# caller's terminal does not reach it, it outlives the caller, and it leaves no zombie when it ends.
DETACH = 'exec 3>&1 >"$0" 2>&1 </dev/null; "$@" 3>&- & echo $! >&3'


FULL = {errno.ENOSPC, errno.EDQUOT}
REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST}


def start_detached(command: Sequence[str], folder: Path, log: Path, env: Mapping[str, str]) -> int:
    """Start a program that outlives this one.

    Parameters
    ----------
    command : sequence of str
    folder : Path
        Where it runs.
    log : Path
        Gets what it prints; overwritten.
    env : mapping of str to str
        All of its environment.

    Returns
    -------
    int
        Its process id.
    """
    shell = ["/bin/sh", "-c", DETACH, str(log), *command]
    done = subprocess.run(  # noqa: S603 - an argument list, nothing of it from outside
        shell, cwd=folder, env=dict(env), stdout=subprocess.PIPE, start_new_session=True, check=True
    )
    return int(done.stdout)


def is_running(pid: int, mark: str) -> bool:
    """Test whether the process `pid` is running with `mark` as one of the words of its command line.

    A process id alone proves nothing: after a crash or a restart of the machine it may be someone else's.

    Examples
    --------
    >>> import os
    >>> is_running(os.getpid(), "--home-dir=/nowhere")
    False
    """
    with suppress(psutil.Error):
        return mark in psutil.Process(pid).cmdline()
    return False


def stop(pid: int, mark: str, patience: float) -> bool:
    """End a process: asked first, forced after `patience` seconds; one without the mark is left alone.

    Returns
    -------
    bool
        False if it had to be forced.
    """
    if _gone(pid, mark, signal.SIGTERM, patience):
        return True
    _gone(pid, mark, signal.SIGKILL, patience)
    return False


def _gone(pid: int, mark: str, signum: signal.Signals, patience: float) -> bool:
    if is_running(pid, mark):
        with suppress(ProcessLookupError):
            kill(pid, signum)
    deadline = time.monotonic() + patience
    while is_running(pid, mark):
        if time.monotonic() > deadline:
            return False
        time.sleep(PROCESS_POLL)
    await_end(pid)
    return True


def await_end(pid: int, patience: float = 10.0) -> None:
    """Wait until a process on its way out has let go of its ports and files.

    The system takes its memory first, and with it the command line by which it is known.
    """
    deadline = time.monotonic() + patience
    while _is_ending(pid) and time.monotonic() < deadline:
        time.sleep(PROCESS_POLL)


def _is_ending(pid: int) -> bool:
    with suppress(psutil.Error):
        ending = psutil.Process(pid)
        with suppress(psutil.ZombieProcess):
            if ending.cmdline():
                return False
        # The first thread may be done before the others, which hold the files of all.
        return ending.num_threads() > 1 or ending.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    return False


def is_free(port: int) -> bool:
    """Test whether a server can listen on a port of 127.0.0.1."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a connection just closed does not count
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def free_ports(count: int) -> list[int]:
    """Different ports of 127.0.0.1 that nobody listens on.

    Examples
    --------
    >>> len(set(free_ports(2)))
    2
    """
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind((HOST, 0))
        return [int(probe.getsockname()[1]) for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def answers_bolt(port: int) -> bool:
    """Test whether a Bolt server on 127.0.0.1 agrees on a version."""
    try:
        with socket.create_connection((HOST, port), timeout=2) as connection:
            connection.sendall(BOLT_HELLO)
            return len(connection.recv(4)) == 4
    except OSError:
        return False


@contextmanager
def clear_disk_errors(folder: Path) -> Iterator[None]:
    """Turn a full disk and a missing right into a SetupError that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise SetupError(
                f"The disk of {folder} is full: free some room, or set GRAPHMEM_HOME to a folder on another disk."
            ) from error
        if error.errno in REFUSED:
            raise SetupError(
                f"{error.filename or folder} cannot be written ({error.strerror}): give this user the right to, "
                "or set GRAPHMEM_HOME to a folder that may be written."
            ) from error
        raise


def check_room(folder: Path, needed: int) -> None:
    """Raise SetupError when fewer than `needed` bytes are free on the disk of a folder that exists."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise SetupError(
            f"Not enough room for the local Neo4j in {folder}: {needed / 1e6:.0f} MB needed, {free / 1e6:.0f} MB free. "
            "Free some, or set GRAPHMEM_HOME to a folder on another disk."
        )


def bytes_on_disk(folder: Path) -> int:
    """Disk usage of all files below a folder, in bytes; 0 if there is no such folder.

    Examples
    --------
    >>> bytes_on_disk(Path("/nowhere"))
    0
    """
    total = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # a running server removes files meanwhile
            total += path.lstat().st_blocks * 512
    return total


def write_private(path: Path, text: str) -> None:
    """Write a file that only this user can read, whole or not at all."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
