"""The web application: the page for people at /, GraphQL at /graphql, exports at /export, health at /healthz, /readyz
and /livez, numbers at /metrics."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any, Never

import uvicorn
from cross_web import HTTPException
from fastapi import FastAPI, Request, Response, WebSocket
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.datastructures import Headers
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from strawberry import asgi
from strawberry.subscriptions import GRAPHQL_SSE_PROTOCOL, GRAPHQL_TRANSPORT_WS_PROTOCOL
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from graphmem import metrics
from graphmem.app import Graphmem
from graphmem.background import IdleGate
from graphmem.errors import GraphmemError, InvalidInput
from graphmem.jobs.health import Probe, check_database, measure, service_state
from graphmem.jobs.sweeper import STRANDED_AFTER, sweep_forever
from graphmem.settings import Settings
from graphmem_api.access import SESSION, RequestContext
from graphmem_api.errors import keep_values_out_of_logs
from graphmem_api.pages import export_route, graphiql_assets, graphiql_page, people_routes
from graphmem_api.schema import make_schema
from graphmem_api.websocket import Connection, Socket

CONNECTIONS = 1000
"""Connections at once from which on requests are answered by 503."""

REQUEST_SECONDS = 30.0
"""Seconds a request's head may take to arrive, and its body."""

REQUEST_BYTES = 1_000_000
"""Bytes of a request."""

_HEAD_BYTES = 65_536
_UNAVAILABLE = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


SLOW = "The machine or the database is busy: requests are answered late. Nothing has to be started again."
LINGER = 1.0
"""Seconds that a connection whose request was too slow still takes what its client sends."""
BEGIN_APART = 0.004
"""Seconds between two requests without a session, more than a refused one takes."""
GIVES_WAY = 0.05
"""Seconds that one gives way to turns under way beyond that, at most."""


def server_config(app: FastAPI, settings: Settings, **more: Any) -> uvicorn.Config:
    """The server's configuration with the limits of the settings; `more` is uvicorn's own."""
    return uvicorn.Config(
        app,
        access_log=False,
        http=_http_protocol(REQUEST_SECONDS),
        limit_concurrency=CONNECTIONS,
        ws_max_size=REQUEST_BYTES,
        ssl_certfile=settings.tls_certificate,
        ssl_keyfile=settings.tls_key,
        **more,
    )


class LimitedHead(HttpToolsProtocol):
    """The library's protocol, which closes connections whose request head takes too long or too much.

    The library waits without end for the first head, and for a further one once a byte of it has come.
    """

    head_seconds: float
    _timer: asyncio.TimerHandle | None = None
    _head_bytes, _in_body = 0, False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Called by the event loop with a new connection."""
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Called by the event loop with what has come."""
        if self._timer is None and self.cycle is not None and self.cycle.response_complete:
            self._await_head()
        if not self._in_body:
            self._head_bytes += len(data)
        super().data_received(data)
        # Whatever came with the end of a head is no part of it.
        if self._timer is not None and self._head_bytes > _HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The request's head is too large.")

    def on_headers_complete(self) -> None:
        """Called by the parser at the end of a head."""
        self._cancel_timer()
        self._head_bytes, self._in_body = 0, True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Called by the parser at the end of a body."""
        # It may have been refused before, and the rest of it is bounded in time as a head is.
        self._cancel_timer()
        self._in_body = False
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        """Called by the library; it limits connections of HTTP only."""
        if self.limit_concurrency is not None and len(self.connections) >= self.limit_concurrency:
            self.transport.write(_UNAVAILABLE)
            self.transport.close()
        else:
            super().handle_websocket_upgrade()

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the event loop at the end of a connection."""
        self._cancel_timer()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._timer = self.loop.call_later(self.head_seconds, self.transport.close)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _http_protocol(head_seconds: float) -> type[LimitedHead]:
    """The class of connections; the library makes them, without arguments of ours."""
    return type("LimitedHead", (LimitedHead,), {"head_seconds": head_seconds})


def make_app(gm: Graphmem) -> FastAPI:
    """The application on an open graphmem; the sweeper runs while it is served."""

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        sweeper = asyncio.create_task(sweep_forever(gm))
        yield
        sweeper.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sweeper

    keep_values_out_of_logs()
    app = FastAPI(title="graphmem", lifespan=lifespan, openapi_url=None)
    graphql = GraphQL(gm)
    app.router.routes += [Route("/graphql", graphql), WebSocketRoute("/graphql", graphql), export_route(gm)]
    if gm.settings.graphiql:
        app.router.routes.append(graphiql_assets())
    if gm.settings.people:
        app.router.routes += people_routes()
    app.add_middleware(BodyLimit, most_bytes=REQUEST_BYTES, seconds=REQUEST_SECONDS)
    app.add_middleware(Turnstile, gate=gm.background.gate)

    state, database = Probe(gm, service_state), Probe(gm, check_database)

    @app.get("/livez")
    async def livez() -> Response:
        return JSONResponse({"status": "alive"})

    @app.get("/healthz")
    async def healthz() -> Response:
        return await service_health(gm, state)

    @app.get("/readyz")
    async def readyz() -> Response:
        return await readiness(database)

    @app.get("/metrics")
    async def numbers() -> Response:
        await measure(gm)
        return Response(generate_latest(metrics.registry), media_type=CONTENT_TYPE_LATEST)

    return app


async def service_health(gm: Graphmem, state: Probe[tuple[float, float, str]]) -> Response:
    """Alive, and nobody waits too long: red when the oldest unanswered message or the oldest job is too old."""
    try:
        looked = await state.look()
    except GraphmemError as e:
        return JSONResponse({"status": "red", "reason": e.code, "remedy": database_remedy(gm.settings)}, 503)
    if looked is None:
        return JSONResponse({"status": "yellow", "database": "slow", "remedy": SLOW})
    waiting, job, broker = looked
    failing = gm.mind.failing
    found = {
        "oldest_unanswered_seconds": waiting,
        "oldest_job_seconds": job,
        "broker": broker,
        "model": failing or "ok",
    }
    red = waiting > 2 * (STRANDED_AFTER + gm.settings.sweep_seconds) or job > gm.settings.jobs_late
    # Without its broker a deployment is slower, and without its model less able, and nobody waits in vain: that
    # alone takes nothing out of service.
    status = "red" if red else "yellow" if broker == "away" or failing else "green"
    return JSONResponse({"status": status} | found, 503 if red else 200)


async def readiness(database: Probe[str]) -> Response:
    """Ready to serve: the database answers, or is only slow."""
    try:
        return JSONResponse({"status": "ready", "neo4j": await database.look() or "slow"})
    except GraphmemError as e:
        return JSONResponse({"status": "not ready", "reason": e.code}, 503)


def database_remedy(settings: Settings) -> str:
    """What to do when the database does not answer."""
    if settings.neo4j_uri is None:
        return "One that has ended is started again; if this lasts: graphmem down, make room on the disk, graphmem up."
    return "Look whether the Neo4j of GRAPHMEM_NEO4J_URI runs and can be reached."


class GraphQL(asgi.GraphQL[RequestContext, None]):
    """The library's application, whose refusals of malformed requests carry a code like every other error."""

    graphql_transport_ws_handler_class = Connection
    websocket_adapter_class = Socket

    def __init__(self, gm: Graphmem) -> None:
        super().__init__(
            make_schema(),
            graphql_ide="graphiql" if gm.settings.graphiql else None,
            # A query in an address ends up in other people's logs.
            allow_queries_via_get=False,
            subscription_protocols=[GRAPHQL_TRANSPORT_WS_PROTOCOL, GRAPHQL_SSE_PROTOCOL],
            connection_init_wait_timeout=timedelta(seconds=10),
        )
        self.gm = gm

    async def render_graphql_ide(self, request: Request) -> Response:
        """GraphiQL of this package; the library's loads its files from elsewhere."""
        return graphiql_page()

    async def get_context(self, request: Request | WebSocket, response: Response | WebSocket) -> RequestContext:
        """Make the GraphQL context of this request."""
        context = RequestContext(self.gm)
        context.request = request
        context.response = response if isinstance(response, Response) else None
        return context

    async def run(self, *args: Any, **kwargs: Any) -> Any:
        """See the library's; a request it cannot read becomes an INVALID_INPUT."""
        try:
            return await super().run(*args, **kwargs)
        except HTTPException as e:
            return refusal(e.reason, e.status_code)

    def decode_json(self, data: str | bytes) -> object:
        """JSON as the standard has it: without NaN and Infinity."""
        try:
            return json.loads(data, parse_constant=_not_a_number)
        except (ValueError, RecursionError) as e:
            raise json.JSONDecodeError(str(e), "", 0) from e

    def parse_json(self, data: str | bytes) -> Any:
        """A request is one JSON object."""
        try:
            parsed = self.decode_json(data)
        except json.JSONDecodeError as e:
            raise HTTPException(400, f"The request is not JSON: {e.msg}") from e
        if not isinstance(parsed, dict):
            raise HTTPException(400, "The request must be one JSON object with query and variables.")
        return parsed


class BodyLimit:
    """Refuses requests whose body is larger than `most_bytes` or takes longer than `seconds` to arrive."""

    def __init__(self, app: ASGIApp, most_bytes: int, seconds: float) -> None:
        self.app, self.most_bytes, self.seconds = app, most_bytes, seconds
        self._too_large = refusal(f"The request is larger than {most_bytes} bytes.", 413)
        self._too_slow = refusal(f"The request took longer than {seconds:g} seconds to arrive.", 408)
        # What still comes of the body is not the next request.
        self._too_slow.headers["connection"] = "close"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        declared = Request(scope).headers.get("content-length", "0")
        if not declared.isdigit() or int(declared) > self.most_bytes:
            return await self._too_large(scope, receive, send)
        try:
            await self.app(scope, self._limited(receive), send)
        except _CutOff as cut:
            await (self._end if cut.slow else self._too_large)(scope, receive, send)

    async def _end(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer that the body is too slow, and close once the client had the time to read it (RFC 9112, 9.6).

        A connection closed while its client still sends is reset, and the answer is thrown away with it.
        """

        async def open_ended(message: Message) -> None:
            await send({**message, "more_body": True} if message["type"] == "http.response.body" else message)

        await self._too_slow(scope, receive, open_ended)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LINGER):
                while (await receive())["type"] != "http.disconnect":
                    pass
        await send({"type": "http.response.body"})

    def _limited(self, receive: Receive) -> Receive:
        """Receive the messages of a request, and refuse it where it is too much or too slow."""
        read, complete = 0, False
        deadline = asyncio.get_running_loop().time() + self.seconds

        async def limited() -> Message:
            nonlocal read, complete
            if complete:
                # What comes after the body is that the client has gone, at any time.
                return await receive()
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError as e:
                raise _CutOff(slow=True) from e
            read += len(message.get("body", b""))
            complete = not message.get("more_body", False)
            if read > self.most_bytes:
                raise _CutOff(slow=False)
            return message

        return limited


class Turnstile:
    """Lets requests without a student's session begin one by one, a moment apart.

    What was begun goes on between them, and turns under way go first: a flood of guessed passwords, each refused at
    once, would else stand before every step of every turn, and take the processor from all of them.
    """

    def __init__(self, app: ASGIApp, gate: IdleGate) -> None:
        self.app, self._gate, self._lock = app, gate, asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and SESSION not in Headers(scope=scope):
            async with self._lock:
                await asyncio.sleep(BEGIN_APART)
                await self._gate.wait(quiet=0.0, patience=GIVES_WAY)
        await self.app(scope, receive, send)


class _CutOff(Exception):
    """A body has more bytes than are taken, or has not arrived in time."""

    def __init__(self, *, slow: bool) -> None:
        super().__init__()
        self.slow = slow


def refusal(reason: str, status: int) -> JSONResponse:
    """A refusal in the shape of a GraphQL answer."""
    error = {"message": reason, "extensions": {"code": InvalidInput.code}}
    return JSONResponse({"data": None, "errors": [error]}, status)


def _not_a_number(word: str) -> Never:
    raise ValueError(f"{word} is not a number")
