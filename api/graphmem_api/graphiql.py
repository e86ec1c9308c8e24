"""GraphiQL and the page for people, served from the package: they load nothing from anywhere else."""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

_FOLDER = Path(__file__).parent / "static" / "graphiql"
_PEOPLE = Path(__file__).parent / "static" / "people"
_HEADERS = {
    # CodeMirror sets styles of elements, and the style sheet holds its fonts and pictures.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


class _Assets(StaticFiles):
    """Static files with the headers of the page."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(_HEADERS)
        return response


def graphiql_page() -> Response:
    """The page; it names its files relative to /graphql, so it works behind a prefix."""
    return HTMLResponse((_FOLDER / "page.html").read_bytes(), headers=_HEADERS)


def graphiql_assets() -> Mount:
    """The route of the files that the page loads."""
    return Mount("/graphiql", _Assets(directory=_FOLDER))


async def _people_page(_: Request) -> Response:
    return HTMLResponse((_PEOPLE / "index.html").read_bytes(), headers=_HEADERS)


def people_routes() -> list[BaseRoute]:
    """The routes of the page on which people see what is remembered of them."""
    return [Route("/", _people_page), Mount("/people", _Assets(directory=_PEOPLE))]
