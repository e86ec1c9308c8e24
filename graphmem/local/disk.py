"""Files of the local Neo4j: private, written whole or not at all, and clear words when the disk refuses."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from graphmem.errors import SetupError

FULL = {errno.ENOSPC, errno.EDQUOT}
REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST}


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
