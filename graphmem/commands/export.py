"""Exporting a student to a file."""

import json
import os
from pathlib import Path

from graphmem.app import Graphmem
from graphmem.commands.unlocked import unlocked
from graphmem.errors import InvalidInput
from graphmem.flows.export import export_student
from graphmem.jobs.runner import run_jobs
from graphmem.model import Who


async def exported(gm: Graphmem, who: Who, password: str) -> str:
    """All that is kept of a student, as a JSON document.

    Raises
    ------
    Locked          the password is wrong or there is no such student
    """
    async with unlocked(gm, who, password) as session:
        await run_jobs(gm, session)
        return json.dumps(await export_student(gm, session), ensure_ascii=False, indent=1)


def save(document: str, file: Path) -> None:
    """Write a document to a new file that only its owner can read.

    Raises
    ------
    InvalidInput    the file is there already, or cannot be written
    """
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
            out.write(document)
    except OSError as e:
        raise InvalidInput(f"{file.name} cannot be written: {e.strerror}. Name a new file.") from e
