"""A client of the WebSocket of the API, for tests."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import websockets


@asynccontextmanager
async def connected(api: str, **payload: str) -> AsyncIterator[websockets.ClientConnection]:
    """An acknowledged connection; `payload` is that of `connection_init`."""
    address = api.replace("http", "ws", 1) + "/graphql"
    async with websockets.connect(
        address, subprotocols=[websockets.Subprotocol("graphql-transport-ws")], open_timeout=10
    ) as socket:
        await socket.send(json.dumps({"type": "connection_init", "payload": payload}))
        assert json.loads(await socket.recv())["type"] == "connection_ack"
        yield socket


async def first_answer(socket: websockets.ClientConnection, payload: Any, id_: str = "1") -> dict[str, Any]:
    """The first message to come after an operation was sent."""
    await socket.send(json.dumps({"id": id_, "type": "subscribe", "payload": payload}))
    answer: dict[str, Any] = json.loads(await socket.recv())
    return answer
