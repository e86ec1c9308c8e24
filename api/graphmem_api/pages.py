"""GraphiQL, the page for people and the download of an export; the pages load nothing from anywhere else."""

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from graphql import GraphQLError
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from graphmem.app import Graphmem
from graphmem.errors import GraphmemError
from graphmem.flows.transfer import export_pieces
from graphmem.jobs.runner import run_jobs
from graphmem_api.access import Info, RequestContext, in_running_session
from graphmem_api.errors import code

_FOLDER = Path(__file__).parent / "static" / "graphiql"
_PEOPLE = Path(__file__).parent / "static" / "people"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PEOPLE_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    # Files of two versions do not fit together: each is asked for again, and sent only where it changed.
    "Cache-Control": "no-cache",
}
_HEADERS = _PEOPLE_HEADERS | {
    # CodeMirror sets styles of elements, and the style sheet holds its fonts and pictures.
    "Content-Security-Policy": _POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
    + "; font-src 'self' data:"
}


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


class _Assets(StaticFiles):
    """Static files with the headers of their page."""

    def __init__(self, directory: Path, headers: dict[str, str]) -> None:
        super().__init__(directory=directory)
        self._headers = headers

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(self._headers)
        return response


def graphiql_page() -> Response:
    """The page; it names its files relative to /graphql, so it works behind a prefix."""
    return HTMLResponse((_FOLDER / "page.html").read_bytes(), headers=_HEADERS)


def graphiql_assets() -> Mount:
    """The route of the files that the page loads."""
    return Mount("/graphiql", _Assets(_FOLDER, _HEADERS))


async def _people_page(_: Request) -> Response:
    return HTMLResponse((_PEOPLE / "index.html").read_bytes(), headers=_PEOPLE_HEADERS)


def people_routes() -> list[BaseRoute]:
    """The routes of the page on which people see what is remembered of them."""
    return [Route("/", _people_page), Mount("/people", _Assets(_PEOPLE, _PEOPLE_HEADERS))]


def export_route(gm: Graphmem) -> Route:
    """The route. It takes the headers that `exportStudent` takes; a document that was cut short is no whole JSON."""

    async def export(request: Request) -> Response:
        context = RequestContext(gm)
        context.request = request
        await context.look_up_caller()
        info = cast(Info, SimpleNamespace(context=context))
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
