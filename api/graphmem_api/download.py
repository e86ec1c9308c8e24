"""GET /export/{student}: all that is kept of a student, piece by piece (spec 14, 18)."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import cast

from graphql import GraphQLError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from graphmem.app import Graphmem
from graphmem.errors import GraphmemError
from graphmem.flows.transfer import export_pieces
from graphmem.jobs.runner import run_jobs
from graphmem_api.access import Info, RequestContext, in_running_session
from graphmem_api.errors import code

STATUS = {
    "INVALID_INPUT": 400,
    "UNAUTHENTICATED": 401,
    "FORBIDDEN": 403,
    "NOT_FOUND": 404,
    "CONFLICT": 409,
    "LOCKED": 423,
    "RATE_LIMITED": 429,
    "UNAVAILABLE": 503,
}


@dataclass(frozen=True)
class PlainInfo:
    """Stands for GraphQL's info where a request is not of GraphQL."""

    context: RequestContext


def export_route(gm: Graphmem) -> Route:
    """The route. It takes the headers that `exportStudent` takes; a document that was cut short is no whole JSON."""

    async def export(request: Request) -> Response:
        context = RequestContext(gm)
        context.request = request
        await context.look_up_caller()
        info = cast(Info, PlainInfo(context))
        try:
            session = await in_running_session(info, request.path_params["student"])
            await run_jobs(gm, session)
            pieces = export_pieces(gm, session)
            # What is wrong from the start is told by the status.
            first = await anext(pieces)
        except GraphmemError as e:
            return _refused(e)
        headers = {"Content-Disposition": 'attachment; filename="student.json"', "Cache-Control": "no-store"}
        return StreamingResponse(_with(first, pieces), media_type="application/json", headers=headers)

    return Route("/export/{student:path}", export, methods=["GET"])


async def _with(first: str, pieces: AsyncIterator[str]) -> AsyncIterator[str]:
    yield first
    async for piece in pieces:
        yield piece


def _refused(error: GraphmemError) -> JSONResponse:
    """An error in the shape of GraphQL, masked as there."""
    told = GraphQLError("", path=["export"], original_error=error)
    code(told)
    name = (told.extensions or {}).get("code", "INTERNAL")
    body = {"data": None, "errors": [{"message": told.message, "extensions": {"code": name}}]}
    return JSONResponse(body, STATUS.get(name, 500))
