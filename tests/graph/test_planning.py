"""What is planned once, on the real database: which statements those are, and how they are planned."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

import pytest

from graphmem.app import Graphmem
from graphmem.flows import students
from graphmem.flows.context import context
from graphmem.jobs.runner import run_jobs
from graphmem.model import Who
from graphmem.runtime import get_ready
from graphmem.store import queries
from graphmem.store.graph import Graph, Row, Transaction, open_driver
from graphmem.store.queries import CypherStatement, explained
from tests.conftest import PASSWORD, Pupil, say

Plan = dict[str, Any]
PLANNED = [name for name, each in queries.load().items() if each.planned]
SCANS = re.compile(r"LabelScan|AllNodesScan|RelationshipsScan|TypeScan")


async def test_what_a_first_conversation_needs_is_planned_ahead_as_it_is_sent(
    gm: Graphmem, ann: Pupil, replica: Graphmem, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: set[str] = set()
    sent: list[str] = []
    check, execute, send = CypherStatement.check, Graph.execute, Transaction._sent

    def checked(statement: CypherStatement, given: Mapping[str, Any]) -> None:
        names.add(statement.name)
        check(statement, given)

    async def executed(graph: Graph, text: str, *args: Any, **more: Any) -> list[Row]:
        sent.append(text)
        return await execute(graph, text, *args, **more)

    async def sent_within(transaction: Transaction, text: str, params: dict[str, Any]) -> list[Row]:
        sent.append(text)
        return await send(transaction, text, params)

    monkeypatch.setattr(CypherStatement, "check", checked)
    monkeypatch.setattr(Graph, "execute", executed)
    monkeypatch.setattr(Transaction, "_sent", sent_within)
    await replica.graph.plan_ahead(asyncio.Event())
    planned, sent = set(sent), []

    who = Who(ann.who.institution, "planned")
    await students.enrol(replica, who, PASSWORD)
    token, session = await students.open_session(replica, who, PASSWORD)
    for text in ("My dog is called Rex.", "I live in Oslo."):
        await say(replica, Pupil(who, PASSWORD, session, token), text)
    await context(replica, session, "Where do I live?")
    await run_jobs(replica, session)
    assert names <= set(PLANNED)
    assert {explained(text) for text in sent} <= planned


@pytest.mark.parametrize("name", PLANNED)
async def test_what_is_planned_once_starts_at_an_index(gm: Graphmem, name: str) -> None:
    assert not [each for each in await planned(gm, name) if "Scan" in each]


async def test_no_statement_of_a_student_or_an_institution_reads_all_of_a_label(gm: Graphmem) -> None:
    # What a service looks through for everybody may.
    within = [name for name, each in gm.graph._queries.items() if "institution" in each.params]
    own = [name for name in within if "after_institution" not in gm.graph._queries[name].params]
    assert len(own) > 150
    scanning = {name: [each for each in await planned(gm, name) if SCANS.search(each)] for name in own}
    assert {name: each for name, each in scanning.items() if each} == {}


async def planned(gm: Graphmem, name: str) -> list[str]:
    """The operators of a statement's plan."""
    async with gm.graph._driver.session() as session:
        text = queries.explained(gm.graph._queries[name].text)
        summary = await (await session.run(text, {queries.GIVEN: {}})).consume()
    return list(operators(cast(Plan, summary.plan)))


def operators(plan: Plan) -> Iterator[str]:
    """The names of the operators of a plan."""
    yield plan["operatorType"]
    for child in plan.get("children", ()):
        yield from operators(child)


async def test_what_ends_does_not_go_on_planning(gm: Graphmem, monkeypatch: pytest.MonkeyPatch) -> None:
    stopping, sent = asyncio.Event(), list[str]()

    async def executed(graph: Graph, text: str, *args: Any, **more: Any) -> list[Row]:
        sent.append(text)
        stopping.set()
        return []

    monkeypatch.setattr(Graph, "execute", executed)
    await gm.graph.plan_ahead(stopping)
    assert len(sent) == 1


async def test_a_database_that_is_away_is_planned_for_later(gm: Graphmem, caplog: pytest.LogCaptureFixture) -> None:
    away = Graph(open_driver("bolt://127.0.0.1:1", "neo4j", "nobody", 0.2), 0.2)
    await get_ready(replace(gm, graph=away))
    await away.aclose()
    assert "could not be ahead: UNAVAILABLE" in caplog.text
