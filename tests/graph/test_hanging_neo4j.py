"""A Neo4j that hangs, or is away: UNAVAILABLE in time, health slow and then red, and all is well when it is back."""

import asyncio
from collections.abc import AsyncIterator
from time import monotonic

import httpx
import pytest
from pydantic import SecretStr

from graphmem.app import Graphmem
from graphmem.errors import Unavailable
from graphmem.flows import students
from graphmem.runtime import open_graphmem
from graphmem.settings import Settings
from graphmem.store.graph import Graph, open_driver
from tests.conftest import Pupil, another_replica, say, served
from tests.support.own_neo4j import Access
from tests.support.proxy import Proxy, proxied

TIMEOUT = 5.0
SLACK = 3.0
"""Seconds that a busy machine may take besides."""


def quick(gm: Graphmem) -> Settings:
    return gm.settings.model_copy(update={"health_seconds": 1.0})


@pytest.fixture
async def proxy(neo4j_access: Access) -> AsyncIterator[Proxy]:
    async with proxied(neo4j_access.uri) as opened:
        yield opened


@pytest.fixture
async def far(gm: Graphmem, proxy: Proxy, neo4j_access: Access) -> AsyncIterator[Graphmem]:
    """A replica that reaches Neo4j through the proxy."""
    graph = Graph(open_driver(proxy.uri, neo4j_access.user, neo4j_access.password, TIMEOUT), TIMEOUT, (bytes(32),))
    yield another_replica(gm, graph=graph, settings=quick(gm))
    await graph.aclose()


async def test_a_call_to_a_neo4j_that_hangs_is_unavailable_in_time(far: Graphmem, proxy: Proxy, ann: Pupil) -> None:
    # The first of its kind, a statement has to be planned.
    assert (await say(far, ann, "I have a cat.")).seq == 1
    proxy.forwarding.clear()
    start = monotonic()
    found = await asyncio.gather(
        students.find_student(far, ann.who),
        say(far, ann, "I have a dog.", "t1"),
        far.graph.server_agent(),
        return_exceptions=True,
    )
    assert [type(each) for each in found] == [Unavailable] * 3
    assert monotonic() - start < TIMEOUT + SLACK
    proxy.forwarding.set()
    assert await students.find_student(far, ann.who)
    assert (await say(far, ann, "I have a dog.", "t1")).seq == 2


async def both_answer(http: httpx.AsyncClient) -> None:
    """Wait until health and readiness are well; a busy machine may need several tries."""
    for _ in range(60):
        if [(await http.get(path)).status_code for path in ("/healthz", "/readyz")] == [200, 200]:
            return
    raise AssertionError("health and readiness stay red")


async def test_health_tells_a_slow_neo4j_from_one_that_hangs(far: Graphmem, proxy: Proxy) -> None:
    async with served(far) as address, httpx.AsyncClient(base_url=address, timeout=30) as http:
        await both_answer(http)
        proxy.forwarding.clear()
        start = monotonic()
        slow, ready = await asyncio.gather(http.get("/healthz"), http.get("/readyz"))
        assert monotonic() - start < far.settings.health_seconds + SLACK
        assert (slow.status_code, slow.json()["status"], slow.json()["database"]) == (200, "yellow", "slow")
        assert (ready.status_code, ready.json()["neo4j"]) == (200, "slow")
        # It answers after all: as well as before.
        proxy.forwarding.set()
        await both_answer(http)
        proxy.forwarding.clear()
        await asyncio.gather(http.get("/healthz"), http.get("/readyz"))
        await asyncio.sleep(TIMEOUT + SLACK)
        for path in ("/healthz", "/readyz"):
            start = monotonic()
            answer = await http.get(path)
            assert (answer.status_code, answer.json()["reason"]) == (503, "UNAVAILABLE")
            assert monotonic() - start < far.settings.health_seconds + SLACK
        assert (await http.get("/livez")).json() == {"status": "alive"}
        start = monotonic()
        assert (await http.get("/metrics")).status_code == 200
        assert monotonic() - start < far.settings.health_seconds + SLACK
        proxy.forwarding.set()
        await both_answer(http)


async def test_health_is_red_at_once_when_neo4j_is_away(gm: Graphmem) -> None:
    graph = Graph(open_driver("bolt://127.0.0.1:1", "neo4j", "none", TIMEOUT), TIMEOUT, (bytes(32),))
    away = another_replica(gm, graph=graph, settings=quick(gm))
    async with served(away) as address, httpx.AsyncClient(base_url=address, timeout=30) as http:
        for path in ("/healthz", "/readyz"):
            start = monotonic()
            assert (await http.get(path)).status_code == 503
            assert monotonic() - start < away.settings.health_seconds + SLACK
    await graph.aclose()


async def test_a_start_without_neo4j_names_its_address(gm: Graphmem) -> None:
    away = quick(gm).model_copy(
        update={"neo4j_uri": "bolt://127.0.0.1:1", "neo4j_password": SecretStr("none"), "neo4j_timeout": 1.0}
    )
    with pytest.raises(Unavailable, match=r"bolt://127\.0\.0\.1:1.*GRAPHMEM_NEO4J_URI.*graphmem doctor"):
        async with open_graphmem(away):
            pass
