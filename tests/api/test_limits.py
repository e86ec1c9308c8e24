"""Documents that expand to too much are refused before anything walks them, also without a token."""

import asyncio
from collections.abc import Awaitable

import httpx
import pytest
from graphql import get_introspection_query, parse

from graphmem_api.limits import expanded
from tests.api.websocket import connected, first_answer


def nested(levels: int, inner: str = "__typename") -> str:
    """A document whose fragments double at each level."""
    fragments = [f"fragment F{i} on Query {{ ...F{i + 1} ...F{i + 1} }}" for i in range(levels)]
    return " ".join(["{ ...F0 }", *fragments, f"fragment F{levels} on Query {{ {inner} }}"])


def cyclic(fragments: int) -> str:
    """A document in which each fragment spreads all."""
    spreads = " ".join(f"...F{i}" for i in range(fragments))
    return " ".join(["{ ...F0 }", *(f"fragment F{i} on Query {{ {spreads} }}" for i in range(fragments))])


SECONDS = 10.0


async def in_time(answer: Awaitable[httpx.Response]) -> httpx.Response:
    """An answer that comes within seconds, where one that is not bounded takes minutes."""
    return await asyncio.wait_for(answer, SECONDS)


@pytest.mark.parametrize("document", [nested(11), nested(60), cyclic(20), nested(60, "...F0")])
async def test_a_document_that_expands_to_too_much_is_refused_at_once(
    api: str, http: httpx.AsyncClient, document: str
) -> None:
    await http.get("/healthz")
    answer = (await in_time(http.post("/graphql", json={"query": document}))).json()
    assert [e["extensions"]["code"] for e in answer["errors"]] == ["INVALID_INPUT"]
    async with connected(api) as socket:
        refused = await asyncio.wait_for(first_answer(socket, {"query": document}), SECONDS)
    assert refused["type"] == "error"
    assert [e["extensions"]["code"] for e in refused["payload"]] == ["INVALID_INPUT"]


async def test_a_document_within_the_limit_is_answered(http: httpx.AsyncClient) -> None:
    answer = (await http.post("/graphql", json={"query": nested(8)})).json()
    assert answer == {"data": {"__typename": "Query"}}
    assert "errors" not in (await http.post("/graphql", json={"query": get_introspection_query()})).json()


def test_the_expanded_counts_every_spread_of_every_operation() -> None:
    assert expanded(parse(nested(3))).total() == 1 + 2 * (2**3 - 1) + 2**3
    assert expanded(parse("query A { a } query B { b { c } ... on Query { d } }")).total() == 5
    assert expanded(parse("{ ...Missing }")).total() == 1


FULL = get_introspection_query()
_, FRAGMENTS = FULL.split("fragment FullType", 1)
FRAGMENTS = "fragment FullType" + FRAGMENTS
ALL = """fragment F on __Schema { types { kind name description fields { name description args { name description
  type { ...R } defaultValue } type { ...R } } inputFields { name type { ...R } } enumValues { name description } } }
fragment R on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }"""
DEEP = "kind " + "fields { type { " * 8 + "name " + "} } " * 8


@pytest.mark.parametrize(
    "document",
    [
        "{ " + " ".join(f"a{i}: __schema {{ ...F }}" for i in range(29)) + " }" + ALL,
        "{ __schema { types { ...FullType } } ...B } fragment B on Query { __schema { queryType { name } } }"
        + FRAGMENTS,
        "{ __schema { types { ...FullType fields { type { ...FullType } } } } }" + FRAGMENTS,
        "{ __schema { types { " + " ".join(f"d{i}: description" for i in range(29)) + " } } }",
        "{ __schema { types { " + DEEP + " } } }",
        '{ __type(name: "Query") { ' + DEEP + " } }",
        '{ a: __type(name: "Query") { name } }',
        "{ __schema { types { possibleTypes { possibleTypes { name } } } } }",
    ],
    ids=["aliases", "twice", "nested", "long texts", "deep", "deep type", "one alias", "possible types"],
)
async def test_the_schema_is_asked_for_once(api: str, http: httpx.AsyncClient, document: str) -> None:
    response = await in_time(http.post("/graphql", json={"query": document}))
    (error,) = response.json()["errors"]
    assert error["extensions"]["code"] == "INVALID_INPUT"
    assert error["message"].startswith("The schema may be asked for once")
    assert len(response.content) < 1_000
    async with connected(api) as socket:
        refused = await asyncio.wait_for(first_answer(socket, {"query": document}), SECONDS)
    assert [e["extensions"]["code"] for e in refused["payload"]] == ["INVALID_INPUT"]


@pytest.mark.parametrize(
    "document",
    [
        FULL,
        get_introspection_query(
            specified_by_url=True, directive_is_repeatable=True, schema_description=True, input_value_deprecation=True
        ),
        '{ __type(name: "Turn") { name fields { name type { name ofType { name } } args { name } } } __typename }',
    ],
    ids=["standard", "all options", "one type"],
)
async def test_what_tools_ask_for_the_schema_is_answered(http: httpx.AsyncClient, document: str) -> None:
    response = await in_time(http.post("/graphql", json={"query": document}))
    assert "errors" not in response.json()
    assert 1_000 < len(response.content) < 1_000_000
