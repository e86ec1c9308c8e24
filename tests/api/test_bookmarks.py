"""Bookmarks: what is written through one replica is read through another, on whatever member of a cluster."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from neo4j import AsyncDriver, AsyncGraphDatabase

from graphmem.app import Graphmem
from graphmem.errors import SetupError
from graphmem.store.graph import SCHEMES, Graph, bookmarked, is_routed, open_driver
from graphmem_client import AsyncClient
from tests.conftest import Pupil, another_replica, served
from tests.support.client import TURN
from tests.support.own_neo4j import Access


class Recording:
    """A driver that keeps how its sessions were asked for."""

    def __init__(self, driver: AsyncDriver) -> None:
        self.driver = driver
        self.sessions: list[dict[str, Any]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.driver, name)

    def session(self, **config: Any) -> Any:
        self.sessions.append(config)
        return self.driver.session(**config)


@pytest.fixture
async def recording(neo4j_access: Access) -> AsyncIterator[Recording]:
    """A driver of its own that has written nothing yet, over an address of a cluster."""
    uri = neo4j_access.uri.replace("bolt", "neo4j", 1)
    driver = Recording(open_driver(uri, neo4j_access.user, neo4j_access.password, 30.0))
    yield driver
    await driver.driver.close()


async def test_another_replica_reads_with_the_bookmark_of_what_was_written(
    gm: Graphmem, http: httpx.AsyncClient, app_client: Any, ann: Pupil, recording: Recording
) -> None:
    headers = {"Authorization": f"Bearer {app_client.token}", "X-Graphmem-Session": ann.token}
    turn = {"student": "ann", "turn": "t1", "text": "My rabbit is called Flocke."}
    written = await http.post("/graphql", json={"query": TURN, "variables": turn}, headers=headers)
    bookmark = written.headers["X-Graphmem-Bookmark"]
    elsewhere = another_replica(gm, graph=Graph(recording, 30.0, gm.graph.secrets, uri="neo4j://elsewhere"))  # type: ignore[arg-type]
    asked = {"query": 'query { student(id: "ann") { context(query: "Who is Flocke?") { prompt } } }'}
    async with served(elsewhere) as address, httpx.AsyncClient(base_url=address, timeout=30) as other:
        for sent, access in (({}, "WRITE"), ({"X-Graphmem-Bookmark": bookmark}, "READ")):
            recording.sessions.clear()
            answer = await other.post("/graphql", json=asked, headers=headers | sent)
            assert "Flocke" in answer.json()["data"]["student"]["context"]["prompt"]
            found = [s for s in recording.sessions if set(sent.values()) <= set(s["bookmarks"].raw_values)]
            # Without a bookmark the leader is asked, with it any member that has got so far.
            assert access in {each["default_access_mode"] for each in found}
        assert answer.headers["X-Graphmem-Bookmark"]


@pytest.mark.parametrize("bookmark", ["ä".encode().decode("latin-1"), "a b", "x" * 201, ",".join(["FB:a"] * 21)])
async def test_what_is_no_bookmark_is_refused(http: httpx.AsyncClient, app_client: Any, bookmark: str) -> None:
    headers = {b"Authorization": f"Bearer {app_client.token}".encode(), b"X-Graphmem-Bookmark": bookmark.encode()}
    answer = await http.post("/graphql", json={"query": '{ student(id: "ann") { id } }'}, headers=headers)
    assert answer.json()["errors"][0]["extensions"]["code"] == "INVALID_INPUT"


async def test_a_bookmark_of_another_database_is_refused(http: httpx.AsyncClient, app_client: Any) -> None:
    headers = {"Authorization": f"Bearer {app_client.token}", "X-Graphmem-Bookmark": "nonsense"}
    answer = await http.post("/graphql", json={"query": '{ student(id: "ann") { id } }'}, headers=headers)
    assert answer.json()["errors"][0]["extensions"]["code"] == "INVALID_INPUT"


async def test_the_client_sends_the_bookmark_of_what_it_wrote(api: str, app_client: Any, ann: Pupil) -> None:
    async with AsyncClient(api, app_client.token) as client:
        client.sessions["ann"] = ann.token
        await client.handle_turn("ann", "t1", "My rabbit is called Flocke.")
        first = client.bookmark
        assert first
        assert "Flocke" in (await client.context("ann", "Who is Flocke?")).prompt
        await client.handle_turn("ann", "t2", "It is white.")
        assert client.bookmark not in ("", first)


async def test_only_what_is_written_gets_a_bookmark(gm: Graphmem) -> None:
    with bookmarked("") as trail:
        await gm.graph.run("graph/get_probe")
        assert trail.text == ""
        await gm.graph.run("graph/create_probe", at=gm.clock())
        assert trail.text != ""


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_every_scheme_of_an_address_reaches_the_driver_as_it_is(
    monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    given: list[str] = []
    monkeypatch.setattr(AsyncGraphDatabase, "driver", lambda uri, **_: given.append(uri))
    open_driver(f"{scheme}://cluster.example:7687", "neo4j", "secret", 1.0)
    assert given == [f"{scheme}://cluster.example:7687"]
    assert is_routed(given[0]) == scheme.startswith("neo4j")
    with pytest.raises(SetupError):
        open_driver("https://cluster.example", "neo4j", "secret", 1.0)
