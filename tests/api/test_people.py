"""The page for people comes from the server itself, asks what the schema has, and can be switched off."""

import json
import re
from pathlib import Path

import httpx
import pytest
from graphql import build_schema, parse, validate

from graphmem.app import Graphmem
from tests.conftest import another_replica, served

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "api" / "graphmem_api" / "static" / "people"
SCRIPT = (FOLDER / "page.js").read_text("utf-8")
TEXTS = {language: json.loads((FOLDER / f"{language}.json").read_text("utf-8")) for language in ("en", "de")}
ENUMS = ("Domain", "LedgerCategory", "SourceKind")


async def test_the_page_and_all_it_loads_come_from_the_server(http: httpx.AsyncClient) -> None:
    page = await http.get("/")
    assert page.headers["content-type"].startswith("text/html")
    names = [*re.findall(r'(?:src|href)="(people/[^"]*)"', page.text), *(f"people/{name}.json" for name in TEXTS)]
    assert len(names) == 4
    for name in [*names, "people/htm-preact.js"]:
        assert (await http.get(f"/{name}")).status_code == 200, name
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'" in policy
    assert "http" not in policy
    assert not re.search(r"https?://", page.text + SCRIPT)


async def test_the_page_can_be_switched_off(gm: Graphmem) -> None:
    off = another_replica(gm, settings=gm.settings.model_copy(update={"people": False}))
    async with served(off) as address, httpx.AsyncClient(base_url=address) as http:
        assert (await http.get("/")).status_code == (await http.get("/people/page.js")).status_code == 404


def documents() -> dict[str, str]:
    """The documents that the page sends, by name."""
    (memory,) = re.findall(r'^const MEMORY = "(.*)";$', SCRIPT, re.MULTILINE)
    found = re.findall(r'^const ([A-Z]+) = ["`]((?:query|mutation).*)["`];$', SCRIPT, re.MULTILINE)
    return {name: text.replace("${MEMORY}", memory) for name, text in found}


@pytest.mark.parametrize("name", documents())
def test_what_the_page_asks_is_in_the_schema(name: str) -> None:
    schema = build_schema((ROOT / "api" / "schema.graphql").read_text("utf-8"))
    assert validate(schema, parse(documents()[name])) == []


def test_it_sends_a_document_for_each_action() -> None:
    actions = {"OPEN", "CLOSE", "LIST", "SEARCH", "UNSURE", "LEDGER", "CORRECT", "FORGET", "SETTLE", "EXPORT", "ERASE"}
    assert set(documents()) == actions


def test_each_text_is_there_in_each_language_with_the_same_places() -> None:
    schema = build_schema((ROOT / "api" / "schema.graphql").read_text("utf-8"))
    used = set(re.findall(r'\bsay\("(\w+)"', SCRIPT)) | {"by_theme", "by_time", "memories", "unsure", "ledger", "data"}
    used |= {value for name in ENUMS for value in schema.type_map[name].values}  # type: ignore[attr-defined]
    used |= set(re.findall(r'\bact\("(\w+)"', SCRIPT)) | {"LOCKED", "UNAUTHENTICATED", "RATE_LIMITED"}
    for texts in TEXTS.values():
        assert used == set(texts)
    for name in used:
        places = {tuple(sorted(re.findall(r"{\w+}", texts[name]))) for texts in TEXTS.values()}
        assert len(places) == 1, name
