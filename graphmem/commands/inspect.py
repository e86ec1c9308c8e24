"""A readable copy of a student in a Neo4j of its own, to be looked at in Neo4j Browser and thrown away."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any
from urllib.parse import quote

from graphmem.app import Graphmem
from graphmem.commands.unlocked import unlocked
from graphmem.errors import SetupError
from graphmem.flows.export import export_student
from graphmem.jobs.runner import run_jobs
from graphmem.local import server
from graphmem.local.copies import noted_copy, remove_left_copy
from graphmem.local.server import LocalNeo4j
from graphmem.model import Who
from graphmem.runtime import Say, open_graph
from graphmem.settings import Settings
from graphmem.store import queries
from graphmem.store.copies import write_copy


async def readable_student(gm: Graphmem, who: Who, password: str) -> dict[str, Any]:
    """All that is kept of a student, opened, with what is known of the world as nodes.

    Raises
    ------
    Locked          the password is wrong or there is no such student
    """
    async with unlocked(gm, who, password) as session:
        await run_jobs(gm, session)
        return with_overlay(await export_student(gm, session))


def with_overlay(document: dict[str, Any]) -> dict[str, Any]:
    """An export whose known concepts are nodes, with the student's edges to them.

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
        with server.throwaway(settings, say) as neo4j, noted_copy(settings, neo4j.home):
            own = {"home": neo4j.home, "neo4j_uri": None, "neo4j_bolt_port": None, "neo4j_http_port": None}
            yield settings.model_copy(update=own), neo4j
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)


async def fill_copy(settings: Settings, document: dict[str, Any], say: Say) -> None:
    """Write a student into the copy's database."""
    async with open_graph(settings, say) as graph:
        await write_copy(graph, document["nodes"], document["edges"])


def copy_link(neo4j: LocalNeo4j) -> str:
    """Neo4j Browser on the copy, with a query in its editor that draws it."""
    query = queries.read("browser/readable_copy").strip()
    return f"{neo4j.browser_url}&cmd=edit&arg={quote(query)}"
