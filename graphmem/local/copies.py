"""The readable copy of a student that `graphmem inspect` opens: noted while it is open, removed where it was left."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from graphmem.local.server import Progress, remove
from graphmem.settings import Settings

NOTE = "inspect.json"
"""File of the home that names the folder of a copy; locked while the copy is open."""


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
