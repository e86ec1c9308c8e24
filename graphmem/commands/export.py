"""Exporting a student to a file, and reading one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from graphmem.app import Graphmem
from graphmem.commands.unlocked import unlocked
from graphmem.errors import Conflict, InvalidInput
from graphmem.flows.export import EXPORT_TRIES, export_pieces
from graphmem.jobs.runner import run_jobs
from graphmem.model import Who


async def export_to(gm: Graphmem, who: Who, password: str, out: IO[str]) -> None:
    """Write all that is kept of a student as a JSON document, piece by piece.

    A file is begun again where the student was changed meanwhile; what was written elsewhere is then not whole.

    Raises
    ------
    Locked          the password is wrong or there is no such student
    Conflict        the student was changed meanwhile
    """
    tries = EXPORT_TRIES if out.seekable() else 1
    async with unlocked(gm, who, password) as session:
        await run_jobs(gm, session)
        for attempt in range(1, tries + 1):
            try:
                async for piece in export_pieces(gm, session):
                    out.write(piece)
                return
            except Conflict:
                if attempt == tries:
                    raise
                out.seek(0)
                out.truncate()


@contextmanager
def new_file(file: Path) -> Iterator[IO[str]]:
    """A new file that only its owner can read; it goes again where writing it fails.

    Raises
    ------
    InvalidInput    the file is there already, or cannot be written
    """
    try:
        opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as e:
        raise InvalidInput(f"{file.name} cannot be written: {e.strerror}. Name a new file.") from e
    try:
        with os.fdopen(opened, "w", encoding="utf-8") as out:
            yield out
    except BaseException as e:
        file.unlink(missing_ok=True)
        if isinstance(e, OSError):
            raise InvalidInput(f"{file.name} cannot be written: {e.strerror}.") from e
        raise


def read_file(file: Path) -> str:
    """The text of a document.

    Raises
    ------
    InvalidInput    the file cannot be read as text
    """
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise InvalidInput(f"{file.name} cannot be read: it must be a JSON document in UTF-8.") from e
