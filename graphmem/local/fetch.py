"""The jars of the local Neo4j: fetched once, checked by sha256, then used offline."""

from collections.abc import Callable
from hashlib import file_digest
from pathlib import Path

from graphmem.local.disk import check_room, clear_disk_errors
from graphmem.local.lock import Jar, JarLock

ROOM_TO_WORK = 300_000_000  # bytes an empty database with its logs takes, and then some

Report = Callable[[str], None]


def fetch(lock: JarLock, folder: Path, repository: str | None, report: Report) -> Path:
    """Make sure that every jar of a lock file lies in a folder, whole and right.

    What is already there and right is not fetched again. Once all has been checked, a stamp holds the lock's
    hash, so that later calls look at names and sizes only (226 jars: 1 ms) and need no network.

    Parameters
    ----------
    lock : JarLock
    folder : Path
        Made if missing; holds the jars side by side.
    repository : str or None
        Address of a Maven repository; None is the central one.
    report : callable
        Told in words what happens.

    Returns
    -------
    Path
        `folder`.

    Raises
    ------
    SetupError
        A jar that is not what the lock file says, no room, no right to write, no network; each with its remedy.
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
            # Imported late: takes a third of a second, and only a first start needs it.
            from graphmem.local.download import download

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
    """Remove what an interrupted fetch has left; also jars that would get onto the class path unasked."""
    for path in folder.iterdir():
        if path.is_file() and path.name not in wanted:
            path.unlink()
