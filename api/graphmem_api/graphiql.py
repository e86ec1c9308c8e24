"""GraphiQL and the page for people, served from the package: they load nothing from anywhere else."""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

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
