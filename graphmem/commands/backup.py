"""Backing up a database while it is used, and restoring it into an empty one."""

import gzip
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from graphmem.commands.frame import new_file
from graphmem.errors import GraphmemError, InvalidInput
from graphmem.progress import Say
from graphmem.runtime import open_graph
from graphmem.settings import Settings
from graphmem.store import backups, schema
from graphmem.store.backups import BackupRecord, Held, record_line, record_of

FORMAT, FORMAT_VERSION = "graphmem-backup", 1
STATEMENT_SECONDS = 600.0
"""Seconds that one statement may take: a large student is read at once."""


@dataclass(frozen=True)
class BackupReport:
    """How much a backup holds."""

    students: int
    nodes: int
    edges: int


async def backup(settings: Settings, file: Path, say: Say) -> BackupReport:
    """Write everything of a database to a new file that only its owner can read, while turns go on.

    Each student is read at one moment. What was acknowledged before the backup began is in it; what comes meanwhile
    may be. Sessions, password tries and the server secret are not.

    Raises
    ------
    InvalidInput    the file is there already, or cannot be written
    Unavailable     Neo4j does not answer; then there is no file
    """
    with new_file(file, "wb") as raw, gzip.open(raw, "wb", compresslevel=1) as out:
        return await _write_records(settings, _Lines(out), say)


class _Lines:
    """Lines of JSON with a digest of all of them."""

    def __init__(self, out: Any) -> None:
        self._out, self.digest = out, sha256()

    def write(self, record: BackupRecord) -> None:
        line = record_line(record)
        self.digest.update(line)
        self._out.write(line)


async def _write_records(settings: Settings, lines: _Lines, say: Say) -> BackupReport:
    nodes = edges = students = 0
    async with open_graph(settings.model_copy(update={"neo4j_timeout": STATEMENT_SECONDS}), say) as graph:
        held = await backups.find_held(graph)
        began = datetime.now(UTC).isoformat()
        lines.write({"format": FORMAT, "version": FORMAT_VERSION, "began_at": began, "schema": asdict(held)})
        async for record in backups.read_shared(graph):
            lines.write(record)
            nodes, edges = nodes + ("node" in record), edges + ("edge" in record)
        async for who in backups.read_students(graph):
            found = await backups.read_student(graph, who)
            if not found:
                continue
            students += 1
            lines.write({"student": [who.institution, who.student_id]})
            for record in found:
                lines.write(record)
                nodes, edges = nodes + ("node" in record), edges + ("edge" in record)
            if not students % 100:
                say(f"{students} students")
    report = BackupReport(students, nodes, edges)
    lines.write({"end": asdict(report) | {"sha256": lines.digest.hexdigest()}})
    return report


async def restore(settings: Settings, file: Path, say: Say) -> BackupReport:
    """Make a database of a backup, in an empty one; what was cut short is begun again by the next call.

    The file is read twice: checked first, so that nothing is restored of one that is not whole.

    Raises
    ------
    InvalidInput    the file is no backup, or not whole
    Conflict        the database is not empty, or something wrote to it meanwhile
    """
    held, wanted = _checked_file(file)
    if held.version > schema.SCHEMA_VERSION:
        raise InvalidInput(
            f"This backup has schema version {held.version}, this graphmem knows {schema.SCHEMA_VERSION}: "
            "install a newer graphmem."
        )
    element: dict[str, str] = {}
    shared: dict[str, str] | None = None
    students = 0
    async with open_graph(settings.model_copy(update={"neo4j_timeout": STATEMENT_SECONDS}), say) as graph:
        await schema.check_server(graph)
        await backups.begin_restore(graph, held, datetime.now(UTC))
        for unit in _units(file):
            await backups.create_records(graph, unit, element)
            # Students lead to what is shared, and not to each other.
            shared = dict(element) if shared is None else shared
            element = dict(shared)
            students += 1
            if not students % 100:
                say(f"{students} of {wanted.students} students")
        nodes, edges = await backups.finish_restore(graph)
    found = BackupReport(wanted.students, nodes, edges)
    if found != wanted:
        raise GraphmemError(f"The restored database holds {nodes} nodes and {edges} edges, the backup {wanted}.")
    return found


def _checked_file(file: Path) -> tuple[Held, BackupReport]:
    """Return what a backup says of itself, once all of it was read and found to be whole."""
    digest, last = sha256(), None
    wrong = InvalidInput(f"{file.name} is no backup of graphmem, or was cut short.")
    with suppress(ValueError, KeyError, TypeError, OSError, EOFError, StopIteration):
        with gzip.open(file, "rb") as lines:
            head = json.loads(first := next(lines))
            digest.update(first)
            if (head["format"], head["version"]) != (FORMAT, FORMAT_VERSION):
                raise wrong
            for line in lines:
                if last is not None:
                    digest.update(last)
                last = line
        end = json.loads(last or b"{}")["end"]
        if end.pop("sha256") == digest.hexdigest():
            return Held(**head["schema"]), BackupReport(**end)
    raise wrong


def _units(file: Path) -> Iterator[list[BackupRecord]]:
    """The records of what is shared, then those of each student."""
    unit: list[BackupRecord] = []
    with gzip.open(file, "rb") as lines:
        for line in lines:
            record = record_of(line)
            if "student" in record:
                yield unit
                unit = []
            elif "node" in record or "edge" in record:
                unit.append(record)
    yield unit
