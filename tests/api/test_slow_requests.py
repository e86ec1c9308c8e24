"""Connections that drip, and too many of them: they end, and others are answered meanwhile."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator
from contextlib import suppress

import httpx
import pytest
import websockets

from graphmem.app import Graphmem
from tests.api.websocket import connected
from tests.conftest import another_replica, served

SECONDS = 1.0
HEAD = b"POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
READY = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(scope="module")
async def strict(gm: Graphmem) -> AsyncIterator[str]:
    """An API that waits a second for a request and serves three connections at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graphmem_api.main.REQUEST_SECONDS", SECONDS)
        patch.setattr("graphmem_api.main.CONNECTIONS", 4)
        async with served(another_replica(gm)) as address:
            yield address


async def dripped(address: str, start: bytes, drip: bytes) -> tuple[bytes, float]:
    """All that is answered to a start and then a drop at a time, and the seconds until the server closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(address.rpartition(":")[2]))
    started = time.monotonic()
    writer.write(start)
    answer = bytearray()
    reading = asyncio.create_task(_read_into(answer, reader))
    with suppress(ConnectionError):
        while not reading.done() and time.monotonic() < started + 10 * SECONDS:
            writer.write(drip)
            await writer.drain()
            await asyncio.wait([reading], timeout=0.1)
    took = time.monotonic() - started
    writer.close()
    assert reading.done(), "The connection is still open."
    return bytes(answer), took


async def _read_into(answer: bytearray, reader: asyncio.StreamReader) -> None:
    """Read to the end; what came before a reset counts."""
    with suppress(ConnectionError):
        while part := await reader.read(65_536):
            answer += part


async def test_who_goes_away_while_sending_is_no_defect(api: str, caplog: pytest.LogCaptureFixture) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", int(api.rpartition(":")[2]))
    writer.write(HEAD + b"Content-Length: 100\r\n\r\n{")
    await writer.drain()
    await asyncio.sleep(0.5)
    writer.close()
    await writer.wait_closed()
    await asyncio.sleep(1.0)
    assert [each for each in caplog.records if each.levelname == "ERROR"] == []


@pytest.mark.parametrize(
    "body", [(b"Content-Length: 5000\r\n\r\n", b"x"), (b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n")]
)
async def test_a_body_that_drips_is_answered_408(strict: str, body: tuple[bytes, bytes]) -> None:
    answer, took = await dripped(strict, HEAD + body[0], body[1])
    assert answer.startswith(b"HTTP/1.1 408 ")
    refused = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert [e["extensions"]["code"] for e in refused["errors"]] == ["INVALID_INPUT"]
    assert SECONDS <= took < 4 * SECONDS


async def test_who_still_sends_can_read_the_refusal(strict: str) -> None:
    loop = asyncio.get_running_loop()
    with socket.socket() as client:
        client.setblocking(False)
        await loop.sock_connect(client, ("127.0.0.1", int(strict.rpartition(":")[2])))
        await loop.sock_sendall(client, HEAD + b"Content-Length: 5000\r\n\r\nx")
        await asyncio.sleep(SECONDS + 0.2)
        # A connection that was closed is reset by the first and refuses the second.
        await loop.sock_sendall(client, b"x")
        await loop.sock_sendall(client, b"x")
        assert (await loop.sock_recv(client, 65_536)).startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize(
    ("start", "drip"),
    [(b"", b""), (HEAD, b"X-Drip: x\r\n"), (b"", b"\r\n"), (READY, HEAD[:5]), (READY, b"\r\n")],
    ids=["nothing", "head", "empty lines", "second head", "empty lines after an answer"],
)
async def test_a_head_that_drips_ends_the_connection(strict: str, start: bytes, drip: bytes) -> None:
    answer, took = await dripped(strict, start, drip)
    assert answer == b"" or answer.startswith((b"HTTP/1.1 200 ", b"HTTP/1.1 400 "))
    assert took < 4 * SECONDS


async def test_a_head_without_end_is_refused(strict: str) -> None:
    answer, took = await dripped(strict, HEAD, b"X-Long: " + b"x" * 50_000 + b"\r\n")
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")
    assert took < SECONDS


async def test_a_subscription_outlives_the_time_of_a_request(strict: str) -> None:
    async with connected(strict) as socket:
        await asyncio.sleep(1.5 * SECONDS)
        await socket.send('{"type": "ping"}')
        assert json.loads(await socket.recv()) == {"type": "pong"}


async def test_too_many_connections_are_answered_503(strict: str) -> None:
    async with connected(strict), connected(strict), connected(strict):
        with pytest.raises(websockets.InvalidStatus, match="503"):
            await websockets.connect(strict.replace("http", "ws") + "/graphql")
        async with httpx.AsyncClient(base_url=strict) as http:
            assert (await http.get("/metrics")).status_code == 503
    async with httpx.AsyncClient(base_url=strict) as http:
        assert (await http.get("/metrics")).status_code == 200
