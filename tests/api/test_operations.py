"""The operations over HTTP and WebSocket, as an app uses them."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest
import websockets

from graphmem.app import Graphmem
from graphmem.errors import Unavailable
from graphmem.jobs import health
from graphmem.jobs.health import Probe
from graphmem.model import Role, StoredTurn
from graphmem.store import turns
from graphmem.store.graph import Graph, open_driver
from tests.conftest import PASSWORD, Pupil, another_replica, served
from tests.support.client import CLOSE, ENROL, OPEN, TURN, Client, Refused

Bearer = Callable[[Role], str]

STUDENT = """query($id: ID!) { student(id: $id) {
  id createdAt locked memoryCount tolerance facts(first: 5) { id text tags createdAt } } }"""
CHANGE = """mutation($id: ID!, $old: String!, $new: String!) { changePassword(studentId: $id, old: $old, new: $new) }"""
STREAM = """subscription($id: ID!, $turn: ID!, $text: String!) {
  turnStream(studentId: $id, turnId: $turn, text: $text) { token turn { reply repeated } } }"""


async def test_a_student_from_enrolment_to_the_end(http: httpx.AsyncClient, bearer: Bearer) -> None:
    admin, app = Client(http, bearer(Role.ADMIN)), Client(http, bearer(Role.APP))
    assert (await admin.call(ENROL, student="eve", password=PASSWORD, name="Eve"))["id"] == "eve"
    opened = replace(app, session=(await app.call(OPEN, student="eve", password=PASSWORD))["token"])
    first = await opened.call(TURN, student="eve", turn="t1", text="I am stuck with fractions.")
    second = await opened.call(TURN, student="eve", turn="t2", text="I love tame otters.")
    assert first["reply"]
    assert (second["match"], second["learnedFact"]) == (None, None)
    seen = await opened.call(STUDENT, id="eve")
    assert seen["locked"] is False
    assert await opened.call(CHANGE, id="eve", old=PASSWORD, new="another good password") is True
    assert await opened.call(CLOSE, student="eve") is True
    with pytest.raises(Refused):
        await opened.call(STUDENT, id="eve")
    assert (await app.call(OPEN, student="eve", password="another good password"))["token"]


async def test_a_locked_student_shows_numbers_and_no_facts(app_client: Client) -> None:
    locked = replace(app_client, session=None)
    seen = await locked.call("{ student(id: \"ann\") { id locked tolerance memoryCount } }")  # fmt: skip
    assert seen == {"id": "ann", "locked": True, "tolerance": 0.5, "memoryCount": 0}
    with pytest.raises(Refused) as refused:
        await locked.call(STUDENT, id="ann")
    assert refused.value.code == "LOCKED"


async def test_a_hundred_repeats_of_one_turn_get_one_reply(app_client: Client, gm: Graphmem, ann: Pupil) -> None:
    answers = await asyncio.gather(
        *(app_client.call(TURN, student="ann", turn="t", text="What is a half of a half?") for _ in range(100))
    )
    assert len({t["reply"] for t in answers}) == 1
    assert sum(not t["repeated"] for t in answers) == 1
    rows = await gm.graph.execute(
        "MATCH (t:Turn {institution: $i}) RETURN count(t) AS n", {"i": ann.who.institution}, reads=True
    )
    assert rows == [{"n": 1}]


async def streamed(api: str, client: Client, *, in_payload: bool) -> list[dict[str, Any]]:
    headers = {"Authorization": f"Bearer {client.token}", "X-Graphmem-Session": client.session or ""}
    address = api.replace("http", "ws") + "/graphql"
    events = []
    async with websockets.connect(
        address,
        subprotocols=[websockets.Subprotocol("graphql-transport-ws")],
        additional_headers={} if in_payload else headers,
    ) as socket:
        await socket.send(json.dumps({"type": "connection_init", "payload": headers if in_payload else {}}))
        assert json.loads(await socket.recv())["type"] == "connection_ack"
        variables = {"id": "ann", "turn": "t", "text": "I like my horse Bella."}
        await socket.send(
            json.dumps({"id": "1", "type": "subscribe", "payload": {"query": STREAM, "variables": variables}})
        )
        while (message := json.loads(await socket.recv()))["type"] == "next":
            events.append(message["payload"])
    return events


@pytest.mark.parametrize("in_payload", [True, False])
async def test_a_reply_streams_and_ends_with_the_turn(api: str, app_client: Client, in_payload: bool) -> None:
    events = [e["data"]["turnStream"] for e in await streamed(api, app_client, in_payload=in_payload)]
    assert len(events) > 2
    assert all(e["turn"] is None for e in events[:-1])
    assert "".join(e["token"] for e in events[:-1]) == events[-1]["turn"]["reply"]
    again = [e["data"]["turnStream"] for e in await streamed(api, app_client, in_payload=in_payload)]
    assert again == [{"token": None, "turn": {"reply": events[-1]["turn"]["reply"], "repeated": True}}]


async def test_a_stream_without_a_session_is_locked(api: str, app_client: Client) -> None:
    (event,) = await streamed(api, replace(app_client, session=None), in_payload=True)
    assert event["errors"][0]["extensions"]["code"] == "LOCKED"


async def test_health_readiness_and_numbers(http: httpx.AsyncClient, app_client: Client) -> None:
    await app_client.call(TURN, student="ann", turn="t", text="Hello there, a zebra.")
    assert (await http.get("/healthz")).json()["status"] == "green"
    assert (await http.get("/readyz")).json()["neo4j"].startswith("20")
    numbers = (await http.get("/metrics")).text
    assert 'graphmem_turns_total{result="answered"}' in numbers
    assert "graphmem_turn_seconds_bucket" in numbers
    assert "zebra" not in numbers
    assert float(numbers.split("\ngraphmem_open_sessions ")[1].split("\n")[0]) >= 1
    assert 'graphmem_jobs{kind="form",state="dead"}' in numbers
    assert "graphmem_degraded_turns_total" in numbers
    assert "graphmem_recall_seconds_count" in numbers


async def test_health_is_yellow_while_the_model_fails(gm: Graphmem) -> None:
    class FailingMind:
        failing = "timeout"
        seconds = 20.0
        together = 1

    ailing = another_replica(gm, mind=FailingMind())
    async with served(ailing) as address, httpx.AsyncClient(base_url=address, timeout=30) as http:
        told = await http.get("/healthz")
        assert (told.status_code, told.json()["status"], told.json()["model"]) == (200, "yellow", "timeout")


async def test_a_probe_tells_busy_from_broken(gm: Graphmem, monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[asyncio.Future[str]] = []

    async def ask(_: Graphmem) -> str:
        answers.append(asyncio.get_running_loop().create_future())
        return await answers[-1]

    hasty = another_replica(gm, settings=gm.settings.model_copy(update={"health_seconds": 0.01}))
    probe = Probe(hasty, ask)
    assert await probe.look() is None
    assert await probe.look() is None
    answers[-1].set_result("well")
    assert await probe.look() == "well"
    assert await probe.look() is None
    answers[-1].set_exception(Unavailable())
    with pytest.raises(Unavailable):
        await probe.look()
    # The next question waits: for a database that is there, and for one that is not.
    assert await probe.look() is None
    monkeypatch.setattr(hasty.graph, "unreachable", True)
    with pytest.raises(Unavailable):
        await probe.look()
    monkeypatch.setattr(hasty.graph, "unreachable", False)
    assert await probe.look() is None
    monkeypatch.setattr(health, "HANGS_SECONDS", 0.0)
    with pytest.raises(Unavailable):
        await probe.look()
    answers[-1].set_result("late")
    assert await probe.look() == "late"
    assert len(answers) == 3


async def test_health_is_red_without_a_database_or_when_somebody_waits_too_long(gm: Graphmem, ann: Pupil) -> None:
    await turns.receive(gm.graph, ann.session, StoredTurn("t", "Hello?", gm.clock(), None), gm.clock())
    late = another_replica(gm, clock=lambda: gm.clock() + timedelta(days=1))
    nobody = Graph(open_driver("bolt://127.0.0.1:1", "neo4j", "none", 0.2), 0.2, gm.secrets)
    for ill in (late, another_replica(gm, graph=nobody)):
        async with served(ill) as address, httpx.AsyncClient(base_url=address) as http:
            assert (await http.get("/healthz")).status_code == 503
    async with served(another_replica(gm, graph=nobody)) as address, httpx.AsyncClient(base_url=address) as http:
        assert (await http.get("/readyz")).status_code == 503
    await nobody.aclose()
