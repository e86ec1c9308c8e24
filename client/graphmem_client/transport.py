"""Requests to the API and streams from it, sent again while it is unavailable."""

import asyncio
import json
import logging
import os
from collections.abc import AsyncGenerator, Coroutine, Generator, Mapping
from contextlib import aclosing
from functools import lru_cache
from random import uniform
from threading import Lock, Thread
from time import monotonic
from typing import Any, TypeVar

import httpx
from pydantic import TypeAdapter

from graphmem_client.base import as_json
from graphmem_client.errors import GraphmemError, NotFound, Unavailable, error_of

FIRST_SECONDS = 0.25
LONGEST_SECONDS = 8.0
ENDING = ("CloseSession", "RotateKey", "EraseStudent")
"""Operations after which a student's session is gone."""

log = logging.getLogger(__name__)
T = TypeVar("T")


class Backoff:
    """Waits before one request is sent again: twice as long each time, within a total time.

    Parameters
    ----------
    patience : float >= 0, seconds from the first failure after which nothing is sent again; 0: never
    """

    def __init__(self, patience: float) -> None:
        self.patience, self.tries, self._deadline = patience, 0, 0.0

    async def wait(self, error: Unavailable) -> None:
        """Wait before the next try, half of the interval to all of it; raise the error where time is up."""
        self._deadline = self._deadline or monotonic() + self.patience
        seconds = min(FIRST_SECONDS * 2**self.tries, LONGEST_SECONDS)
        if monotonic() + seconds > self._deadline:
            raise error
        self.tries += 1
        log.warning("%s (try %d; sent again in about %.1f s)", error, self.tries, seconds)
        await asyncio.sleep(uniform(seconds / 2, seconds))  # noqa: S311 - spreads clients, guards nothing


class Transport:
    """Requests to one server with one bearer token.

    The token of each session that `open_session` opens is kept, and sent with what is about its student. A request
    that is answered by UNAVAILABLE, or not at all, is sent again (a stream: until its first event).

    Parameters
    ----------
    address : str, such as `http://127.0.0.1:8000`
    token : str, a bearer token (`graphmem token`)
    timeout : float > 0, seconds of one try
    patience : float >= 0, seconds from the first failure after which nothing is sent again; 0: never
    http : httpx.AsyncClient, to be used instead of one of its own; its base_url is the address

    Raises
    ------
    GraphmemError   every method: the class of `graphmem_client.errors` whose code the answer has; a note says where
                    an earlier try may have taken effect
    Unavailable     every method: the API does not answer
    """

    def __init__(
        self,
        address: str = "",
        token: str = "",
        *,
        timeout: float = 120.0,
        patience: float = 60.0,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self.http = http or httpx.AsyncClient(base_url=address, timeout=timeout)
        self.token, self.patience = token, patience
        self.sessions: dict[str, str] = {}
        """Session tokens by student id."""
        self.bookmark = ""
        """What this client wrote last, so that any member of a cluster shows it at once."""

    def _headers(self, student_id: str | None) -> dict[str, str]:
        headers = {"Authorization": f"Bearer {self.token}"}
        if student_id in self.sessions:
            headers["X-Graphmem-Session"] = self.sessions[student_id]
        if self.bookmark:
            headers["X-Graphmem-Bookmark"] = self.bookmark
        return headers

    def _operation(self, query: str, student_id: str | None, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Return the operation that is sent; None leaves a variable to its default."""
        asked = {**variables, **({"opened": student_id in self.sessions} if "$opened" in query else {})}
        return {"query": query, "variables": {name: as_json(each) for name, each in asked.items() if each is not None}}

    async def _asked(
        self, query: str, type_: Any, student_id: str | None, variables: Mapping[str, Any], *within: str
    ) -> Any:
        """Return the typed value of an operation; `within`: the field of the student that it is."""
        value = await self._executed(query, student_id, variables)
        if within:
            if value is None:
                raise NotFound("There is no such student.")
            value = value[within[0]]
        found = _adapter(type_).validate_python(value)
        if query.startswith("mutation OpenSession(") and student_id is not None:
            self.sessions[student_id] = found.token
        elif query.startswith(tuple(f"mutation {name}(" for name in ENDING)) and student_id is not None:
            self.sessions.pop(student_id, None)
        return found

    async def _executed(self, query: str, student_id: str | None, variables: Mapping[str, Any]) -> Any:
        """Return the value of an operation, which is sent again while it is Unavailable."""
        backoff = Backoff(self.patience)
        while True:
            try:
                return await self._executed_once(query, student_id, variables)
            except Unavailable as error:
                await backoff.wait(error)
            except GraphmemError as error:
                if backoff.tries:
                    error.add_note(f"Sent {backoff.tries + 1} times: an earlier try may have taken effect.")
                raise

    async def _executed_once(self, query: str, student_id: str | None, variables: Mapping[str, Any]) -> Any:
        operation = self._operation(query, student_id, variables)
        try:
            response = await self.http.post("/graphql", json=operation, headers=self._headers(student_id))
            answer = response.json()
            self.bookmark = response.headers.get("X-Graphmem-Bookmark", self.bookmark)
        except (httpx.HTTPError, ValueError) as e:
            raise Unavailable(f"The API at {self.http.base_url} does not answer.") from e
        if errors := answer.get("errors"):
            raise error_of(errors[0])
        (value,) = answer["data"].values()
        return value

    async def _streamed(
        self, query: str, type_: Any, student_id: str, variables: Mapping[str, Any]
    ) -> AsyncGenerator[Any, None]:
        """Yield the typed values of a subscription, which is begun again until it has a first one."""
        backoff, begun = Backoff(self.patience), False
        while True:
            try:
                async with aclosing(self._streamed_once(query, student_id, variables)) as events:
                    async for event in events:
                        begun = True
                        yield _adapter(type_).validate_python(event)
                return
            except Unavailable as error:
                if begun:
                    raise
                await backoff.wait(error)

    async def _streamed_once(
        self, query: str, student_id: str, variables: Mapping[str, Any]
    ) -> AsyncGenerator[Any, None]:
        """Yield the values of a subscription (graphql-transport-ws); needs the extra `stream`."""
        try:
            from websockets.asyncio.client import connect
            from websockets.exceptions import WebSocketException
            from websockets.typing import Subprotocol
        except ImportError as e:
            raise GraphmemError("Streams need websockets: install graphmem-client[stream].") from e

        address = str(self.http.base_url).replace("http", "ws", 1).rstrip("/") + "/graphql"
        operation = self._operation(query, student_id, variables)
        try:
            async with connect(address, subprotocols=[Subprotocol("graphql-transport-ws")]) as socket:
                await socket.send(json.dumps({"type": "connection_init", "payload": self._headers(student_id)}))
                await socket.recv()
                await socket.send(json.dumps({"id": "1", "type": "subscribe", "payload": operation}))
                async for message in socket:
                    received = json.loads(message)
                    if received["type"] == "complete":
                        return
                    if received["type"] in ("next", "error"):
                        yield _event_of(received)
        except (WebSocketException, OSError) as e:
            raise Unavailable(f"The API at {self.http.base_url} does not answer.") from e
        raise Unavailable("The API has ended the stream.")

    def _followed(
        self, query: str, type_: Any, student_id: str, variables: Mapping[str, Any]
    ) -> Generator[Any, None, None]:
        """Yield the values of `_streamed` without asyncio."""
        events = self._streamed(query, type_, student_id, variables)

        async def following() -> Any:
            return await anext(events, None)

        try:
            while (event := wait_for(following())) is not None:
                yield event
        finally:
            wait_for(events.aclose())


def _event_of(message: Mapping[str, Any]) -> Any:
    """Return the value that a message of a subscription holds; its error is raised."""
    payload = message["payload"]
    errors = payload if message["type"] == "error" else payload.get("errors")
    if errors:
        raise error_of(errors[0])
    (value,) = payload["data"].values()
    return value


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine of a blocking client, and wait for it."""
    with _STARTING:
        loop = _event_loop(os.getpid())
    future = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        return future.result()
    except BaseException:
        # Where Ctrl-C ends the waiting the work ends, too.
        future.cancel()
        raise


_STARTING = Lock()


@lru_cache
def _event_loop(_process: int) -> asyncio.AbstractEventLoop:
    """Return the event loop of all blocking clients of a process, in a thread that does not keep it from ending."""
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, name="graphmem-client", daemon=True).start()
    return loop


@lru_cache
def _adapter(type_: Any) -> TypeAdapter[Any]:
    return TypeAdapter(type_)
