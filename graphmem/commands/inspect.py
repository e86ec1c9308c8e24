"""A readable copy of a student in a Neo4j of its own, to be looked at in Neo4j Browser and thrown away."""

import asyncio
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from html import escape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copy
from tempfile import TemporaryDirectory
from threading import Thread
from types import FrameType
from typing import Any
from urllib.parse import quote

import typer

from graphmem.commands.frame import unlocked
from graphmem.errors import SetupError
from graphmem.flows.transfer import export_student
from graphmem.jobs.runner import run_jobs
from graphmem.local import server
from graphmem.local.server import LocalNeo4j, noted_copy, remove_left_copy
from graphmem.model import Who
from graphmem.progress import Say, spoken
from graphmem.runtime import open_graph, open_graphmem
from graphmem.settings import Settings
from graphmem.store import queries
from graphmem.store.backups import write_copy


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
    first = len(document["nodes"])
    nodes = [
        {"number": first + i, "labels": ["Concept"], "properties": {"id": each["concept"], "name": each["name"]}}
        for i, each in enumerate(document["overlay"])
    ]
    edges = [
        {
            "from": student,
            "to": first + i,
            "type": "KNOWS",
            "properties": {name: value for name, value in each.items() if name not in ("concept", "name")},
        }
        for i, each in enumerate(document["overlay"])
    ]
    return {"nodes": [*document["nodes"], *nodes], "edges": [*document["edges"], *edges]}


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
