"""The web application: GraphQL at /graphql, health at /healthz and /readyz, numbers at /metrics."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any, Never

from cross_web import HTTPException
from fastapi import FastAPI, Request, Response, WebSocket
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from strawberry import asgi
from strawberry.subscriptions import GRAPHQL_TRANSPORT_WS_PROTOCOL

from api import metrics
from api.access import Context
from api.schema import make_schema
from graphmem.app import Graphmem
from graphmem.errors import GraphmemError, InvalidInput
from graphmem.flows.dispatch import serve_jobs
from graphmem.flows.health import carrier, check_database, waiting_seconds
from graphmem.flows.sweep import sweep_forever


def make_app(gm: Graphmem) -> FastAPI:
    """The application on an open graphmem; the sweeper runs while it is served."""

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        serve_jobs(gm)
        sweeper = asyncio.create_task(sweep_forever(gm))
        yield
        sweeper.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sweeper

    app = FastAPI(title="graphmem", lifespan=lifespan, openapi_url=None)
    graphql = GraphQL(gm)
    app.router.routes += [Route("/graphql", graphql), WebSocketRoute("/graphql", graphql)]
    app.add_middleware(BodyLimit, limit=gm.settings.request_bytes)

    @app.get("/healthz")
    async def healthz() -> Response:
        """Alive, and nobody waits too long: red when the oldest unanswered message or the oldest job is too old."""
        try:
            (waiting, job), broker = await asyncio.gather(waiting_seconds(gm), carrier(gm))
        except GraphmemError as e:
            return JSONResponse({"status": "red", "reason": e.code}, 503)
        found = {
            "oldest_unanswered_seconds": waiting,
            "oldest_job_seconds": job,
            "broker": broker,
        }
        red = waiting > 2 * (gm.settings.stranded_after + gm.settings.sweep_seconds) or job > gm.settings.jobs_late
        # Without its broker a deployment is slower, and nobody waits in vain: that alone takes nothing out of service.
        status = "red" if red else "yellow" if found["broker"] == "away" else "green"
        return JSONResponse({"status": status} | found, 503 if red else 200)

    @app.get("/readyz")
    async def readyz() -> Response:
        """Ready to serve: the database answers."""
        try:
            return JSONResponse({"status": "ready", "neo4j": await check_database(gm)})
        except GraphmemError as e:
            return JSONResponse({"status": "not ready", "reason": e.code}, 503)

    @app.get("/metrics")
    async def numbers() -> Response:
        metrics.unlocked_students.set(len(gm.unlocked))
        with contextlib.suppress(GraphmemError):
            waiting, job = await waiting_seconds(gm)
            metrics.stranded_seconds.set(waiting)
            metrics.job_seconds.set(job)
        return Response(generate_latest(metrics.registry), media_type=CONTENT_TYPE_LATEST)

    return app


class GraphQL(asgi.GraphQL[Context, None]):
    """The library's application, whose refusals of malformed requests carry a code like every other error."""

    def __init__(self, gm: Graphmem) -> None:
        super().__init__(
            make_schema(gm.settings),
            # A query in an address ends up in other people's logs.
            allow_queries_via_get=False,
            subscription_protocols=[GRAPHQL_TRANSPORT_WS_PROTOCOL],
            connection_init_wait_timeout=timedelta(seconds=10),
        )
        self.gm = gm

    async def get_context(self, request: Request | WebSocket, response: Response | WebSocket) -> Context:
        """What resolvers know of this request."""
        context = Context(self.gm)
        context.request = request
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
    """Refuses requests whose body is larger than `limit` bytes, before it is read."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self.app, self.limit = app, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        declared = Request(scope).headers.get("content-length", "0")
        too_large = refusal(f"The request is larger than {self.limit} bytes.", 413)
        if not declared.isdigit() or int(declared) > self.limit:
            return await too_large(scope, receive, send)
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self.limit:
                raise _TooLarge
            return message

        try:
            await self.app(scope, counted, send)
        except _TooLarge:
            await too_large(scope, receive, send)


class _TooLarge(Exception):
    """More came than was declared."""


def refusal(reason: str, status: int) -> JSONResponse:
    """A refusal in the shape of a GraphQL answer."""
    error = {"message": reason, "extensions": {"code": InvalidInput.code}}
    return JSONResponse({"data": None, "errors": [error]}, status)


def _not_a_number(word: str) -> Never:
    raise ValueError(f"{word} is not a number")
