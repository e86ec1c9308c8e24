"""Reads in batches, names of entities and students, and the institution's list of students."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from graphmem.app import Graphmem
from graphmem.jobs.runner import run_jobs
from graphmem.model import Role
from graphmem.store.graph import Graph
from tests.conftest import Enrol, Pupil, say
from tests.support.client import Client, Refused

MANY = """{ student(id: "ann") { memoryCount waitingJobs
  memories(first: 200) { items { id sources { ref } edges { type } surpriseResponse { level } } } } }"""
NAMES = """{ student(id: "ann") { displayName
  memories(first: 200) { items { speaker entities { id kind name } } } } }"""
STUDENTS = """query($first: Int, $after: String) { students(first: $first, after: $after) {
  total next items { id createdAt memoryCount waitingJobs } } }"""
TEXTS = ("My uncle Ferdinand builds boats in Oslo.", "Ferdinand has a dog called Bello.", "I broke my left arm in May.")


@pytest.fixture
async def remembering(gm: Graphmem, ann: Pupil) -> Pupil:
    """Ann, with a few memories."""
    for text in TEXTS:
        await say(gm, ann, text)
    await run_jobs(gm, ann.session)
    return ann


async def test_many_memories_take_few_statements(
    app_client: Client, remembering: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[str] = []
    run = Graph.run

    async def counted(self: Graph, name: str, who: Any = None, **params: Any) -> Any:
        names.append(name)
        return await run(self, name, who, **params)

    monkeypatch.setattr(Graph, "run", counted)
    found = await app_client.call(MANY)
    assert len(found["memories"]["items"]) == found["memoryCount"] >= len(TEXTS)
    assert all(item["sources"] for item in found["memories"]["items"] if not item["id"].startswith("episode"))
    assert any(item["edges"] for item in found["memories"]["items"])
    mine = [name for name in names if name.split("/")[0] in ("student", "memory", "surprise")]
    assert len(mine) <= 8, names
    assert mine.count("student/count") == mine.count("memory/list_sources") == mine.count("memory/list_edges") == 1


async def test_names_are_seen_with_the_session_only(
    app_client: Client, remembering: Pupil, http: httpx.AsyncClient, bearer: Callable[[Role], str]
) -> None:
    found = await app_client.call(NAMES)
    entities = [each for item in found["memories"]["items"] for each in item["entities"]]
    assert found["displayName"] == "Name of ann"
    assert "left arm" in " ".join(each["name"] for each in entities)
    locked = await Client(http, bearer(Role.AUDITOR)).call(NAMES)
    assert locked["displayName"] is None
    seen = [each for item in locked["memories"]["items"] for each in item["entities"]]
    assert {each["id"] for each in seen} == {each["id"] for each in entities}
    assert {each["name"] for each in seen} == {None}


async def test_all_but_apps_and_teachers_list_students_by_counts(
    http: httpx.AsyncClient, bearer: Callable[[Role], str], remembering: Pupil, enrol: Enrol, gm: Graphmem
) -> None:
    for name in ("bob", "cyd"):
        await enrol(name)
    for role in (Role.ADMIN, Role.ANALYST, Role.AUDITOR):
        client = Client(http, bearer(role))
        page = await client.call(STUDENTS, first=2)
        assert ([each["id"] for each in page["items"]], page["total"], page["next"]) == (["ann", "bob"], 3, "bob")
        assert page["items"][0]["memoryCount"] >= len(TEXTS)
        assert page["items"][1]["memoryCount"] == 0
        rest = await client.call(STUDENTS, first=2, after=page["next"])
        assert ([each["id"] for each in rest["items"]], rest["next"]) == (["cyd"], None)
    for role in (Role.APP, Role.TEACHER):
        with pytest.raises(Refused) as refused:
            await Client(http, bearer(role)).call(STUDENTS)
        assert refused.value.code == "FORBIDDEN"
    other = Client(http, bearer(Role.ADMIN))
    with pytest.raises(Refused) as refused:
        await other.call(STUDENTS, first=0)
    assert refused.value.code == "INVALID_INPUT"
