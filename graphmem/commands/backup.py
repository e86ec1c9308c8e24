"""Backups of a database in use, restoring one, and readable copies of a student in a Neo4j of their own."""

import asyncio
import gzip
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from html import escape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copy
from tempfile import TemporaryDirectory
from threading import Thread
from types import FrameType
from typing import IO, Any
from urllib.parse import quote

import typer

from graphmem.commands.frame import counts_in_words, new_file, unlocked
from graphmem.errors import GraphmemError, InvalidInput, SetupError
from graphmem.flows.transfer import export_student
from graphmem.jobs.runner import run_jobs
from graphmem.local import server
from graphmem.local.server import LocalNeo4j, noted_copy, remove_left_copy
from graphmem.model import Who
from graphmem.progress import Say, spoken
from graphmem.runtime import open_graph, open_graphmem
from graphmem.settings import Settings
from graphmem.store import backups, queries, schema
from graphmem.store.backups import BackupRecord, record_line, record_of, write_copy

FORMAT, FORMAT_VERSION = "graphmem-backup", 1
STATEMENT_SECONDS = 600.0
"""Seconds that one statement may take: a large student is read at once."""


Counts = dict[str, int]
"""How many `students`, `nodes` and `edges` a backup holds."""


async def backup(settings: Settings, file: Path, say: Say) -> Counts:
    """Write everything of a database to a new file that only its owner can read, while turns go on.

    Each student is read at one moment. What was acknowledged before the backup began is in it; what comes meanwhile
    may be. Sessions, password tries and the server secret are not.

    Raises
    ------
    InvalidInput    the file is there already, or cannot be written
    Unavailable     Neo4j does not answer; then there is no file
    """
    with new_file(file, "wb") as raw, gzip.open(raw, "wb", compresslevel=1) as out:
        return await _write_records(settings, out, say)


async def _write_records(settings: Settings, out: IO[bytes], say: Say) -> Counts:
    digest, counts = sha256(), {"students": 0, "nodes": 0, "edges": 0}

    def write(*records: BackupRecord) -> None:
        for record in records:
            line = record_line(record)
            digest.update(line)
            out.write(line)
            counts["nodes"] += "node" in record
            counts["edges"] += "edge" in record

    async with open_graph(settings.model_copy(update={"neo4j_timeout": STATEMENT_SECONDS}), say) as graph:
        if not (held := await schema.find_held(graph)):
            raise SetupError("This database holds nothing of graphmem: there is nothing to back up.")
        began = datetime.now(UTC).isoformat()
        write({"format": FORMAT, "version": FORMAT_VERSION, "began_at": began, "schema": held})
        async for record in backups.read_shared(graph):
            write(record)
        async for who in backups.read_students(graph):
            if found := await backups.read_student(graph, who):
                write({"student": [who.institution, who.student_id]}, *found)
                counts["students"] += 1
                if not counts["students"] % 100:
                    say(f"{counts['students']} students")
    write({"end": counts | {"sha256": digest.hexdigest()}})
    return counts


async def restore(settings: Settings, file: Path, say: Say) -> Counts:
    """Make a database of a backup, in an empty one; what was cut short is begun again by the next call.

    The file is read twice: checked first, so that nothing is restored of one that is not whole.

    Raises
    ------
    InvalidInput    the file is no backup, or not whole
    Conflict        the database is not empty, or something wrote to it meanwhile
    """
    held, wanted = _checked_file(file)
    if held["version"] > schema.SCHEMA_VERSION:
        raise InvalidInput(
            f"This backup has schema version {held['version']}, this graphmem knows {schema.SCHEMA_VERSION}: "
            "install a newer graphmem."
        )
    units, shared = _units(file), dict[str, str]()
    async with open_graph(settings.model_copy(update={"neo4j_timeout": STATEMENT_SECONDS}), say) as graph:
        await schema.check_server(graph)
        await backups.begin_restore(graph, held, datetime.now(UTC))
        await backups.create_records(graph, next(units), shared)
        for students, unit in enumerate(units, 1):
            # Students lead to what is shared, and not to each other.
            await backups.create_records(graph, unit, dict(shared))
            if not students % 100:
                say(f"{students} of {wanted['students']} students")
        found = await backups.finish_restore(graph)
    if not found.items() <= wanted.items():
        there, missed = counts_in_words(found), counts_in_words(wanted)
        raise GraphmemError(f"The restored database holds {there}, the backup {missed}.")
    return wanted


def _checked_file(file: Path) -> tuple[dict[str, Any], Counts]:
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
            return head["schema"], end
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


def show_copy(settings: Settings, who: Who, password: str, say: Say) -> None:
    """Put a readable copy of a student into a Neo4j of its own, tell where it is, and remove it at Enter.

    Raises
    ------
    Locked          the password is wrong or there is no such student
    SetupError      it cannot be started, or another copy is being looked at
    """

    async def readable() -> dict[str, Any]:
        async with open_graphmem(settings, say=say, background=False) as gm, unlocked(gm, who, password) as session:
            await run_jobs(gm, session)
            return with_overlay(await export_student(gm, session))

    async def fill(own: Settings, document: dict[str, Any]) -> None:
        async with open_graph(own, say) as graph:
            await write_copy(graph, document["nodes"], document["edges"])

    document = asyncio.run(readable())
    with copy_database(settings, say) as (own, neo4j), served_guide(who.institution, who.student_id) as guide:
        asyncio.run(fill(own, document))
        query = quote(queries.read("browser/readable_copy").strip())
        typer.echo(f"{neo4j.browser_url}&cmd=edit&arg={query}\nuser {neo4j.user}, password {neo4j.password}")
        typer.echo(f"For colours run `:style {guide}/style.grass` there, for a tour `:play {guide}/guide.html`.")
        typer.echo("Press Run there. Every word is readable in this copy: press Enter here to remove it.")
        sys.stdin.readline()
    typer.echo("The copy is removed.")


def with_overlay(document: dict[str, Any]) -> dict[str, Any]:
    """Return an export whose known concepts are nodes, with the student's edges to them.

    Examples
    --------
    >>> student = {"number": 0, "labels": ["Student"], "properties": {"id": "ada"}}
    >>> known = {"concept": "half", "name": "half", "attitude": 0.5, "practice": []}
    >>> found = with_overlay({"nodes": [student], "edges": [], "overlay": [known]})
    >>> found["nodes"][1]["properties"], found["edges"][0]["type"]
    ({'id': 'half', 'name': 'half'}, 'KNOWS')
    """
    student = next(each["number"] for each in document["nodes"] if "Student" in each["labels"])
    nodes, edges = [*document["nodes"]], [*document["edges"]]
    for number, known in enumerate(document["overlay"], len(nodes)):
        concept, held = known["concept"], {n: value for n, value in known.items() if n not in ("concept", "name")}
        nodes.append({"number": number, "labels": ["Concept"], "properties": {"id": concept, "name": known["name"]}})
        edges.append({"from": student, "to": number, "type": "KNOWS", "properties": held})
    return {"nodes": nodes, "edges": edges}


@contextmanager
def copy_database(settings: Settings, say: Say) -> Iterator[tuple[Settings, LocalNeo4j]]:
    """An empty Neo4j of its own, removed at the end, also where the process is told to end or is killed.

    Raises
    ------
    SetupError      it cannot be started, or another copy is being looked at
    """
    if not remove_left_copy(settings, say):
        raise SetupError("A readable copy is open in another window: end it there first.")

    def ended(signum: int, frame: FrameType | None) -> None:
        sys.exit(128 + signum)

    before = {each: signal.signal(each, ended) for each in (signal.SIGTERM, signal.SIGHUP)}
    try:
        with ExitStack() as opened:
            with spoken(say, "starting a Neo4j for the copy") as told:
                neo4j = opened.enter_context(server.throwaway(settings, told))
            opened.enter_context(noted_copy(settings, neo4j.home))
            own = {"home": neo4j.home, "neo4j_uri": None, "neo4j_bolt_port": None, "neo4j_http_port": None}
            yield settings.model_copy(update=own), neo4j
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)


def browser_guide(institution: str, student_id: str) -> str:
    """Return the guide as Neo4j Browser plays it, about one student.

    Examples
    --------
    >>> 'student_id: "ada"' in browser_guide("school", "ada")
    True
    """
    text = (queries.CYPHER / "browser" / "guide.html").read_text("utf-8")
    for name, value in (("INSTITUTION", institution), ("STUDENT", student_id)):
        text = text.replace(f'"{name}"', escape(json.dumps(value), quote=False))
    return text


class _Files(SimpleHTTPRequestHandler):
    def guess_type(self, path: Any) -> str:
        """Return the type of a file: guides are HTML, style sheets are read as text."""
        return "text/html; charset=utf-8" if str(path).endswith(".html") else "text/plain"

    def end_headers(self) -> None:
        # Browser is served from another port, which makes it another origin.
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Called for each request; nothing is logged."""


@contextmanager
def served_guide(institution: str, student_id: str) -> Iterator[str]:
    """The address under which this machine gives out `guide.html` and `style.grass` meanwhile.

    Neo4j Browser takes guides from `localhost` without being told to, by that name only.
    """
    with (
        TemporaryDirectory() as folder,
        ThreadingHTTPServer(("127.0.0.1", 0), partial(_Files, directory=folder)) as files,
    ):
        (Path(folder) / "guide.html").write_text(browser_guide(institution, student_id), "utf-8")
        copy(queries.CYPHER / "browser" / "style.grass", folder)
        thread = Thread(target=files.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://localhost:{files.server_port}"
        finally:
            files.shutdown()
            thread.join()
