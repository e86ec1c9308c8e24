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
FETCHED = {"htm-preact.js", "d3.js"}
OWN = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.js") if path.name not in FETCHED}
SCRIPTS = "".join(OWN.values())
TEXTS = {language: json.loads((FOLDER / f"{language}.json").read_text("utf-8")) for language in ("en", "de")}
SCHEMA = build_schema((ROOT / "api" / "schema.graphql").read_text("utf-8"))
ENUMS = ("Domain", "LedgerCategory", "SourceKind", "EntityKind", "ConcernKind")
MADE = {"title_teacher", "title_auditor", "urgency_1", "urgency_2", "urgency_3", "about_self", "about_other"}
"""Names of texts that are put together of two parts."""
CODES = {"LOCKED", "UNAUTHENTICATED", "FORBIDDEN", "RATE_LIMITED", "UNAVAILABLE"}


async def test_the_page_and_all_it_loads_come_from_the_server(http: httpx.AsyncClient) -> None:
    page = await http.get("/")
    assert page.headers["content-type"].startswith("text/html")
    loaded = [*re.findall(r'(?:src|href)="(people/[^"]*)"', page.text), *re.findall(r'from "\./([^"]*)"', SCRIPTS)]
    names = {name.removeprefix("people/") for name in loaded} | {f"{name}.json" for name in TEXTS}
    assert names == {"page.css"} | FETCHED | set(OWN) | {"en.json", "de.json"}
    for name in names:
        assert (await http.get(f"/people/{name}")).headers["cache-control"] == "no-cache", name
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self';" in policy
    assert "unsafe" not in policy
    assert not re.search(r"https?://", page.text + SCRIPTS)


async def test_the_page_can_be_switched_off(gm: Graphmem) -> None:
    off = another_replica(gm, settings=gm.settings.model_copy(update={"people": False}))
    async with served(off) as address, httpx.AsyncClient(base_url=address) as http:
        assert (await http.get("/")).status_code == (await http.get("/people/page.js")).status_code == 404


def documents() -> dict[str, str]:
    """The documents that the page sends, by name; what is asked of many students as if of one."""
    (memory,) = re.findall(r'^const MEMORY = "(.*)";$', OWN["api.js"], re.MULTILINE)
    found = re.findall(r'^export const ([A-Z]+) =\s+["`](.*)["`];$', OWN["api.js"], re.MULTILINE)
    whole = {name: text.replace("${MEMORY}", memory) for name, text in found}
    return {
        name: text if re.match(r"query|mutation", text) else f"query($id: ID!) {{ {text} }}"
        for name, text in whole.items()
    }


@pytest.mark.parametrize("name", documents())
def test_what_the_page_asks_is_in_the_schema(name: str) -> None:
    assert validate(SCHEMA, parse(documents()[name])) == []


def test_each_document_is_sent() -> None:
    assert len(documents()) == OWN["api.js"].count("export const")
    sent = "".join(text for name, text in OWN.items() if name != "api.js")
    assert [name for name in documents() if not re.search(rf"\b{name}\b(?!.*from)", sent)] == []


def test_each_text_is_there_in_each_language_with_the_same_places() -> None:
    enums = {value for name in ENUMS for value in SCHEMA.type_map[name].values}  # type: ignore[attr-defined]
    said = set(re.findall(r"\bsay\(\"(\w+)\"", SCRIPTS))
    english, german = TEXTS["en"], TEXTS["de"]
    assert english.keys() == german.keys()
    assert said | enums | MADE | CODES <= english.keys()
    assert [
        name for name in english if name not in enums | MADE | CODES and not re.search(rf'"{name}"|\b{name}:', SCRIPTS)
    ] == []
    for name in english:
        places = [sorted(re.findall(r"{\w+}", texts[name])) for texts in (english, german)]
        assert places[0] == places[1], name


def test_the_files_are_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.suffix != ".LICENSE") < 200_000
