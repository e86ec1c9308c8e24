"""Planning ahead on the real database: which statements a first conversation needs."""

from collections.abc import Mapping
from typing import Any

import pytest

from graphmem.app import Graphmem
from graphmem.flows import students
from graphmem.flows.context import context
from graphmem.jobs.runner import run_jobs
from graphmem.model import Who
from graphmem.store.graph import Graph, Row, open_driver
from graphmem.store.planning import PLANNED, plan_ahead
from graphmem.store.queries import CypherStatement, explained
from tests.conftest import PASSWORD, Pupil, say


async def test_what_a_first_conversation_needs_is_planned_ahead_as_it_is_sent(
    gm: Graphmem, ann: Pupil, replica: Graphmem, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: set[str] = set()
    sent: list[str] = []
    check, execute = CypherStatement.check, Graph.execute

    def checked(statement: CypherStatement, given: Mapping[str, Any]) -> None:
        names.add(statement.name)
        check(statement, given)

    async def executed(graph: Graph, text: str, *args: Any, **more: Any) -> list[Row]:
        sent.append(text)
        return await execute(graph, text, *args, **more)

    monkeypatch.setattr(CypherStatement, "check", checked)
    monkeypatch.setattr(Graph, "execute", executed)
    await plan_ahead(replica.graph)
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


async def test_a_database_that_is_away_is_planned_for_later(caplog: pytest.LogCaptureFixture) -> None:
    away = Graph(open_driver("bolt://127.0.0.1:1", "neo4j", "nobody", 0.2), 0.2)
    await plan_ahead(away)
    await away.aclose()
    assert "could not be planned ahead: UNAVAILABLE" in caplog.text
