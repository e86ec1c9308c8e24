"""GraphiQL comes from the server itself, says which headers are needed, and can be switched off."""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urljoin

import httpx
import pytest

from graphmem.app import Graphmem
from tests.conftest import another_replica, served

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "api" / "graphmem_api" / "static" / "graphiql"
HTML = {"Accept": "text/html"}


@pytest.fixture
async def page(http: httpx.AsyncClient) -> httpx.Response:
    """The page as a browser gets it."""
    return await http.get("/graphql", headers=HTML)


def assets(page: httpx.Response) -> list[str]:
    """Whatever the page loads, data aside."""
    found = re.findall(r'(?:src|href)="([^"]*)"', page.text)
    return [address for address in found if not address.startswith("data:")]


async def test_the_page_and_all_it_loads_come_from_the_server(http: httpx.AsyncClient, page: httpx.Response) -> None:
    assert page.status_code == 200
    assert len(assets(page)) == 7
    for address in assets(page):
        assert not re.match(r"\w+:|//", address)
        asset = await http.get(urljoin(str(page.url), address))
        assert asset.status_code == 200, address
        kind = "text/css" if address.endswith(".css") else "text/javascript"
        assert asset.headers["content-type"].startswith(kind)
        loaded = (
            r"@import|url\((?![\"']?(?:data:|#))" if kind == "text/css" else r"\bimportScripts\(|\bimport\([\"']\w+:"
        )
        assert not re.search(loaded, asset.text), address


async def test_the_browser_may_load_from_nowhere_else(http: httpx.AsyncClient, page: httpx.Response) -> None:
    for answer in (page, await http.get("/graphiql/page.js")):
        policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["connect-src"] == "'self'"
        assert "http" not in answer.headers["content-security-policy"]
        assert answer.headers["x-frame-options"] == "DENY"
    assert "<script>" not in page.text


async def test_the_page_says_which_headers_are_needed(http: httpx.AsyncClient, page: httpx.Response) -> None:
    script = (await http.get("/graphiql/page.js")).text
    assert "Authorization: Bearer" in script
    assert "X-Graphmem-Session" in script
    assert "strawberry" not in (page.text + script).lower()


async def test_no_other_file_is_served(http: httpx.AsyncClient) -> None:
    for path in ("/graphiql/", "/graphiql/../main.py", "/graphiql/%2e%2e/%2e%2e/main.py", "/graphiql/nothing.js"):
        assert (await http.get(path)).status_code == 404


async def test_graphiql_can_be_switched_off(gm: Graphmem) -> None:
    off = another_replica(gm, settings=gm.settings.model_copy(update={"graphiql": False}))
    async with served(off) as address, httpx.AsyncClient(base_url=address) as http:
        assert (await http.get("/graphql", headers=HTML)).status_code == 404
        assert (await http.get("/graphiql/page.js")).status_code == 404
        assert (await http.post("/graphql", json={"query": "{ __typename }"})).status_code == 200


def test_the_files_are_those_that_were_fetched_and_small() -> None:
    script = ROOT / "scripts" / "make_graphiql.py"
    assert subprocess.run([sys.executable, script, "--check"], check=False).returncode == 0
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 4_000_000
    for name in ("graphiql", "graphql-ws", "react", "react-dom"):
        assert "MIT License" in (FOLDER / f"{name}.LICENSE").read_text("utf-8")
