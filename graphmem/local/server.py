"""The Neo4j that graphmem runs itself: started in the background, stopped, and looked at.

Everything lives under `<home>/neo4j`: jars, configuration, data, logs, the password, and `server.json` with the
process id and the ports. So several homes work side by side."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TextIO
from urllib.parse import quote

from graphmem.errors import SetupError
from graphmem.local import install, process
from graphmem.local.install import locked
from graphmem.settings import Settings

Progress = Callable[[str], None]

USER = "neo4j"
NEO4J_START_SECONDS = 600.0  # a busy machine takes minutes
STOP_SECONDS = 120.0  # the last checkpoint of a large database takes its time
LOG_LINES = 12


_WATCH = """
import sys
sys.stdin.read()
from pathlib import Path
from graphmem.local.server import remove
remove(Path(sys.argv[1]))"""
NOTE = "inspect.json"
"""File of the home that names the folder of a copy; locked while the copy is open."""


@dataclass(frozen=True)
class Record:
    """Record of the last start, kept in `server.json`: its process, ports and version."""

    bolt_port: int
    http_port: int
    version: str
    pid: int | None

    @property
    def bolt_uri(self) -> str:
        """Bolt address for drivers."""
        return f"bolt://{process.HOST}:{self.bolt_port}"

    @property
    def http_uri(self) -> str:
        """HTTP address of the web server."""
        return f"http://{process.HOST}:{self.http_port}"

    @property
    def browser_url(self) -> str:
        """Neo4j Browser, with the address to connect to filled in."""
        return f"{self.http_uri}/browser/?connectURL={quote(self.bolt_uri, safe='')}"


@dataclass(frozen=True)
class LocalNeo4j(Record):
    """A running local Neo4j, and how to reach it."""

    pid: int
    home: Path
    password: str = field(repr=False)
    user: str = USER


@dataclass(frozen=True)
class Status:
    """Status of the local Neo4j of a home; addresses are None before its first start.

    `running` is the process, `answers` is Bolt, `bytes_on_disk` is all that it takes in its home.
    """

    running: bool
    answers: bool
    pid: int | None
    bolt_uri: str | None
    http_uri: str | None
    browser_url: str | None
    version: str
    home: Path
    bytes_on_disk: int


def _silent(_: str) -> None:
    """Tell nobody."""


def up(settings: Settings, report: Progress = _silent) -> LocalNeo4j:
    """Start the local Neo4j of a home, unless it runs, and wait until it answers.

    The first time its jars are fetched and a password is made. It runs on when the caller ends. When several
    processes call this at once, one of them starts it and the others wait.

    Parameters
    ----------
    settings : Settings
        `home`, `maven`, and ports and memory (`neo4j_bolt_port`, `neo4j_heap_mb`...).
    report : callable
        Called with progress messages.

    Returns
    -------
    LocalNeo4j

    Raises
    ------
    SetupError
        It cannot be fetched or started; says why, and what to do.

    Source: spec 18.
    """
    folder = _folder(settings)
    with process.clear_disk_errors(folder), _one_at_a_time(folder, report):
        record = _read_record(folder)
        if record is not None and _alive(record, folder):
            _check_wanted(settings, record)
            # One that somebody has just killed may look alive for a moment longer.
            if process.answers_bolt(record.bolt_port) or _answers_in_time(record, folder):
                return _reached(record, folder)
        record = _start_server(settings, folder, record, report)
        if not _answers_in_time(record, folder):
            raise SetupError(
                f"Neo4j ended while it started. Its last words, in {folder / 'logs'}:\n{_last_words(folder)}\n"
                "Put right what they say, then try again."
            )
        _check_access(record, folder)
        return _reached(record, folder)


def down(settings: Settings, report: Progress = _silent) -> bool:
    """Stop the local Neo4j of a home cleanly.

    It is asked first, and ended by force only after two minutes; no other process is ever touched.

    Parameters
    ----------
    settings : Settings
        Its `home` tells which.
    report : callable
        Called with progress messages.

    Returns
    -------
    bool
        Whether it ran.
    """
    folder = _folder(settings)
    if not (folder / "server.json").exists():
        return False
    with process.clear_disk_errors(folder), _one_at_a_time(folder, report):
        record = _read_record(folder)
        if record is None or record.pid is None or not _alive(record, folder):
            return False
        report("stopping Neo4j")
        if not process.stop(record.pid, install.home_argument(folder), STOP_SECONDS):
            report(f"Neo4j did not stop within {STOP_SECONDS:.0f} s and was ended; it recovers at its next start")
        _save(folder, replace(record, pid=None))
        return True


def status(settings: Settings) -> Status:
    """Get the status of the local Neo4j of a home; changes nothing.

    Parameters
    ----------
    settings : Settings
        Its `home` tells which.

    Returns
    -------
    Status
    """
    folder = _folder(settings)
    record = _read_record(folder)
    running = record is not None and _alive(record, folder)
    return Status(
        running=running,
        answers=running and record is not None and process.answers_bolt(record.bolt_port),
        pid=record.pid if record and running else None,
        bolt_uri=record.bolt_uri if record else None,
        http_uri=record.http_uri if record else None,
        browser_url=record.browser_url if record else None,
        version=record.version if record else locked().version,
        home=folder.parent,
        bytes_on_disk=process.bytes_on_disk(folder),
    )


def has_died(settings: Settings) -> bool:
    """True if the local Neo4j of a home was started and has ended since, without being stopped by `down`."""
    folder = _folder(settings)
    record = _read_record(folder)
    return record is not None and record.pid is not None and not _alive(record, folder)


@contextmanager
def throwaway(settings: Settings, report: Progress = _silent) -> Iterator[LocalNeo4j]:
    """A second, empty Neo4j in a temporary folder; stopped and removed at the end, also where this process is killed.

    Its jars lie in the home in `settings`, fetched there if need be.

    Parameters
    ----------
    settings : Settings
        As for `up`, but its ports are free ones.
    report : callable
        Called with progress messages.

    Yields
    ------
    LocalNeo4j
    """
    shared = _folder(settings)
    with process.clear_disk_errors(shared), _one_at_a_time(shared, report):
        jars = install.jars(settings, shared, report)
    home = Path(mkdtemp(prefix="graphmem-"))
    with _watched(home):
        own = settings.model_copy(update={"home": home, "neo4j_bolt_port": None, "neo4j_http_port": None})
        try:
            _folder(own).mkdir(mode=0o700)
            (_folder(own) / jars.name).symlink_to(jars)
            yield up(own, report)
        finally:
            remove(home)


@contextmanager
def _watched(home: Path) -> Iterator[None]:
    """Have a process of its own remove a home when this one is killed, which it sees by the end of a pipe."""
    command, nowhere = [sys.executable, "-c", _WATCH, str(home)], subprocess.DEVNULL
    watch = subprocess.Popen(  # noqa: S603 - a program of ours
        command, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere, start_new_session=True
    )
    try:
        yield
    finally:
        watch.kill()
        watch.communicate()


def remove(home: Path) -> None:
    """Stop the Neo4j of a home and remove the home, with all that was written there.

    Raises
    ------
    SetupError      it cannot be removed
    """
    down(Settings(home=home))
    rmtree(home, ignore_errors=True)
    if home.exists():
        raise SetupError(f"{home} could not be removed: end what runs from there, then remove that folder.")


def _folder(settings: Settings) -> Path:
    return settings.home.resolve() / "neo4j"


@contextmanager
def _one_at_a_time(folder: Path, report: Progress) -> Iterator[None]:
    """Let no two processes start or stop this Neo4j at once; freed by the system if this one dies."""
    if sys.platform == "win32":
        raise SetupError("The local Neo4j runs on Linux and macOS: set GRAPHMEM_NEO4J_URI to one that runs elsewhere.")
    import fcntl

    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report("waiting for another process that starts or stops this Neo4j")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _read_record(folder: Path) -> Record | None:
    path = folder / "server.json"
    try:
        return Record(**json.loads(path.read_text("utf-8")))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, TypeError) as error:
        raise SetupError(f"{path} is broken: end the Neo4j of this folder if it runs, then remove the file.") from error


def _save(folder: Path, record: Record) -> None:
    process.write_private(folder / "server.json", json.dumps(asdict(record)) + "\n")


def _alive(record: Record, folder: Path) -> bool:
    return record.pid is not None and process.is_running(record.pid, install.home_argument(folder))


def _start_server(settings: Settings, folder: Path, before: Record | None, report: Progress) -> Record:
    if before is not None and before.pid is not None:
        process.await_end(before.pid)
    bolt_port, http_port = _ports(settings, before)
    lib = install.jars(settings, folder, report)
    install.remove_old_jars(folder, lib)
    install.write_configuration(settings, folder, bolt_port, http_port)
    install.make_password(folder)
    command = install.command(settings, folder, lib)
    report("starting Neo4j")
    # Java takes the encoding of file names from the locale; of the rest, secrets above all, it needs only its flags.
    flags = {name: value for name, value in os.environ.items() if name == "_JAVA_OPTIONS"}
    env = flags | {
        "LC_ALL": "C.UTF-8",
        "PATH": os.defpath,
        "NEO4J_HOME": str(folder),
        "NEO4J_CONF": str(folder / "conf"),
    }
    pid = process.start_detached(command, folder, folder / "logs" / "console.log", env)
    record = Record(bolt_port, http_port, locked().version, pid)
    _save(folder, record)
    return record


def _ports(settings: Settings, before: Record | None) -> tuple[int, int]:
    """The ports of the settings, else those of the last start, else free ones."""
    wanted = {"bolt": settings.neo4j_bolt_port, "http": settings.neo4j_http_port}
    for name, port in wanted.items():
        if port is not None and not process.is_free(port):
            raise SetupError(
                f"Port {port} is taken by another program: end that, or set GRAPHMEM_NEO4J_{name.upper()}_PORT "
                "to another port, or unset it so that a free one is chosen."
            )
    if wanted["bolt"] is not None and wanted["bolt"] == wanted["http"]:
        raise SetupError("GRAPHMEM_NEO4J_BOLT_PORT and GRAPHMEM_NEO4J_HTTP_PORT are the same: choose two ports.")
    last = {"bolt": before.bolt_port, "http": before.http_port} if before else {}
    known = {*wanted.values(), *last.values()}
    # A free port may be a wanted or a used one: two of six others are left.
    spare = dict(zip(wanted, [port for port in process.free_ports(6) if port not in known], strict=False))
    bolt, http = (
        wanted[name] or (last[name] if name in last and process.is_free(last[name]) else spare[name]) for name in wanted
    )
    return bolt, (spare["http"] if http == bolt else http)


def _check_wanted(settings: Settings, record: Record) -> None:
    for name, port, wanted in (
        ("BOLT", record.bolt_port, settings.neo4j_bolt_port),
        ("HTTP", record.http_port, settings.neo4j_http_port),
    ):
        if wanted not in (None, port):
            raise SetupError(
                f"The local Neo4j runs on port {port}, but GRAPHMEM_NEO4J_{name}_PORT is {wanted}: "
                "run `graphmem down`, then try again."
            )


def _answers_in_time(record: Record, folder: Path) -> bool:
    """Wait until Bolt answers; False when the process has ended instead."""
    deadline = time.monotonic() + NEO4J_START_SECONDS
    while not process.answers_bolt(record.bolt_port):
        if not _alive(record, folder):
            return False
        if time.monotonic() > deadline:
            raise SetupError(
                f"Neo4j has not answered for {NEO4J_START_SECONDS:.0f} s. It goes on starting: try again in a while, "
                f"and see {folder / 'logs' / 'neo4j.log'}."
            )
        time.sleep(process.PROCESS_POLL)
    return True


def _last_words(folder: Path) -> str:
    """Ends of the logs, each under the name of its file."""
    said = []
    for name in ("console.log", "neo4j.log"):
        path = folder / "logs" / name
        lines = path.read_text("utf-8", errors="replace").splitlines() if path.exists() else []
        if lines:
            said += [f"--- {path}", *lines[-LOG_LINES:]]
    return "\n".join(said)


def _check_access(record: Record, folder: Path) -> None:
    """Make sure that the database behind Bolt answers, and to our password; stop a server that does not."""
    from neo4j import GraphDatabase
    from neo4j.exceptions import AuthError, DriverError, Neo4jError

    try:
        with GraphDatabase.driver(record.bolt_uri, auth=(USER, install.password(folder))) as driver:
            driver.execute_query("RETURN 1")
    except (DriverError, Neo4jError) as error:
        if record.pid is not None:
            process.stop(record.pid, install.home_argument(folder), STOP_SECONDS)
        if isinstance(error, AuthError):
            raise SetupError(
                f"The password in {folder / 'password'} is not that of the database: put the right one there, or "
                f"remove {folder / 'data'} to begin with an empty database."
            ) from error
        raise SetupError(f"Neo4j started but does not work: {error}\n{_last_words(folder)}") from error


def _reached(record: Record, folder: Path) -> LocalNeo4j:
    return LocalNeo4j(**vars(record), home=folder.parent, password=install.password(folder))


@contextmanager
def noted_copy(settings: Settings, home: Path) -> Iterator[None]:
    """Note the home of a readable copy for as long as it is open."""
    note = settings.home / NOTE
    with note.open("w", encoding="utf-8") as file:
        _is_locked(file)
        file.write(json.dumps({"home": str(home)}))
        file.flush()
        try:
            yield
        finally:
            note.unlink(missing_ok=True)


def remove_left_copy(settings: Settings, report: Progress) -> bool:
    """Stop and remove a copy whose process was killed; False where one is open."""
    note = settings.home / NOTE
    if not note.exists():
        return True
    with note.open(encoding="utf-8") as file:
        if not _is_locked(file):
            return False
        report("removing a readable copy that was left behind")
        remove(Path(json.load(file)["home"]))
        note.unlink(missing_ok=True)
    return True


def _is_locked(file: TextIO) -> bool:
    """Lock a file until it is closed, or its process ends; False where another has it."""
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
