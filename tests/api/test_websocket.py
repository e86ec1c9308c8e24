"""The WebSocket: wrong operations are errors of the client and stand in no log, and tokens expire while it is open."""

import asyncio
import json
import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

import pytest
import websockets

from graphmem import sealing
from graphmem.app import Graphmem
from graphmem.bearer import make_token
from graphmem.model import Role
from graphmem_api import access
from graphmem_api.errors import keep_values_out_of_logs
from graphmem_api.websocket import Connection
from tests.api.websocket import connected, first_answer
from tests.conftest import Pupil, another_replica, served

WORDS = ("blorvexquin", "grumdalthep", "snorvelquax")
STREAM = 'subscription { turnStream(studentId: "ann", turnId: "t", text: "%s" ) { token } }'
BROKEN = {
    "escape": STREAM % "My father blorvexquin hits me \\d every night",
    "quote": STREAM % 'I said "blorvexquin" to grumdalthep',
    "unfinished": 'subscription { turnStream(text: "blorvexquin grumdalthep snorvelquax ) { token } }',
    "brace": "{",
    "word": "blorvexquin grumdalthep { token }",
    "empty": "",
    "field": "{ blorvexquin }",
    "deep": "{ blorvexquin " * 900,
    "fragment alone": "fragment snorvelquax on Query { __typename }",
}
NO_OPERATION = {
    "query list": {"query": ["blorvexquin"]},
    "query null": {"query": None},
    "query number": {"query": 5},
    "query object": {"query": {"blorvexquin": 1}},
    "query missing": {},
    "string": "blorvexquin",
    "list": ["blorvexquin"],
    "null": None,
    "number": 5,
    "variables": {"query": "{ __typename }", "variables": "blorvexquin"},
    "name": {"query": "{ __typename }", "operationName": 5},
    "unknown name": {"query": "{ __typename }", "operationName": "blorvexquin"},
}


@pytest.fixture(autouse=True)
def no_words_in_logs(caplog: pytest.LogCaptureFixture) -> Any:
    """Nothing that a test here sends is logged, at any level, and no traceback."""
    caplog.set_level(logging.DEBUG)
    yield
    # The client of the test logs what it sends.
    logged = [r for r in caplog.records if r.name != "websockets.client"]
    assert not any(word in caplog.handler.format(r) for r in logged for word in (*WORDS, "Traceback", "unexpected"))


def codes(answer: dict[str, Any]) -> list[str]:
    assert answer["type"] == "error"
    return [error["extensions"]["code"] for error in answer["payload"]]


@pytest.mark.parametrize("kind", BROKEN)
async def test_a_document_that_cannot_be_read_is_an_error(api: str, kind: str) -> None:
    async with connected(api) as socket:
        assert codes(await first_answer(socket, {"query": BROKEN[kind]})) == ["INVALID_INPUT"]
        await still_answers(socket)


@pytest.mark.parametrize("kind", NO_OPERATION)
async def test_a_payload_that_is_no_operation_is_an_error(api: str, kind: str) -> None:
    async with connected(api) as socket:
        assert codes(await first_answer(socket, NO_OPERATION[kind])) == ["INVALID_INPUT"]
        await still_answers(socket)


async def still_answers(socket: websockets.ClientConnection) -> None:
    answer = await first_answer(socket, {"query": "{ __typename }"}, "2")
    assert answer == {"id": "2", "type": "next", "payload": {"data": {"__typename": "Query"}}}


@pytest.mark.parametrize(
    "message",
    [
        '["blorvexquin"]',
        "null",
        '"blorvexquin"',
        "{blorvexquin",
        "{}",
        '{"type": ["blorvexquin"]}',
        json.dumps({"type": "blorvexquin \ud800 " * 50}),
        '{"type": "subscribe", "payload": {"query": "{ blorvexquin }"}}',
        '{"type": "subscribe", "id": 5, "payload": {"query": "{ blorvexquin }"}}',
        '{"type": "subscribe", "id": ["blorvexquin"], "payload": {"query": "{ blorvexquin }"}}',
        '{"type": "complete", "id": ["blorvexquin"]}',
        "[" * 50_000,
    ],
)
async def test_a_message_that_cannot_be_read_closes_the_connection(api: str, message: str) -> None:
    async with connected(api) as socket:
        await socket.send(message)
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await socket.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4400


async def test_libraries_log_kind_and_place_of_an_error_only(caplog: pytest.LogCaptureFixture) -> None:
    keep_values_out_of_logs()
    caplog.clear()
    for name in ("asyncio", "strawberry.execution", "strawberry.ws.task", "uvicorn.error"):
        log = logging.getLogger(name)
        try:
            raise ValueError(WORDS[0])
        except ValueError as e:
            log.exception("Exception in %s", WORDS[1], exc_info=e)
            log.debug("< TEXT '%s'", WORDS[2])
    assert not any(word in caplog.text for word in WORDS)
    places = [record.getMessage() for record in caplog.records]
    assert len(places) == 4
    assert all(place.startswith("unexpected ValueError at test_websocket.py:") for place in places)
    caplog.clear()


CONCEPTS = {"query": "{ concepts { total } }"}
SESSION = {"query": '{ student(id: "ann") { facts(first: 1) { id } } }'}


async def test_the_connection_ends_when_the_callers_token_expires(gm: Graphmem, api: str, institution: str) -> None:
    token = make_token(gm.secret, institution, Role.APP, 5, datetime.now(UTC))
    async with connected(api, Authorization=f"Bearer {token}") as socket:
        assert (await first_answer(socket, CONCEPTS))["payload"] == {"data": {"concepts": {"total": 0}}}
        assert json.loads(await socket.recv())["type"] == "complete"
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await asyncio.wait_for(socket.recv(), 20)
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4401, "UNAUTHENTICATED: the token has expired")


@pytest.mark.parametrize(("query", "ends", "code"), [(SESSION, 60, "LOCKED"), (CONCEPTS, 120, "UNAUTHENTICATED")])
async def test_each_operation_looks_at_the_tokens_again(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch, query: dict[str, str], ends: int, code: str
) -> None:
    async def never(self: Connection) -> None:
        pass

    at = now = datetime.now(UTC)

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return at

    monkeypatch.setattr(Connection, "close_at_expiry", never)
    monkeypatch.setattr(access, "datetime", Clock)
    payload = {
        "Authorization": f"Bearer {make_token(gm.secret, ann.who.institution, Role.APP, 120, now)}",
        "X-Graphmem-Session": sealing.session_token(
            gm.secret, replace(ann.session, expires_at=now + timedelta(seconds=60))
        ),
    }
    async with served(another_replica(gm, clock=lambda: at)) as address, connected(address, **payload) as socket:
        # A token ends in a whole second.
        at = now + timedelta(seconds=ends - 2)
        assert "errors" not in (await first_answer(socket, query))["payload"]
        assert json.loads(await socket.recv())["type"] == "complete"
        at = now + timedelta(seconds=ends + 1)
        (error,) = (await first_answer(socket, query, "2"))["payload"]["errors"]
        assert error["extensions"]["code"] == code
