"""Documents that expand to too much are refused before anything walks them, also without a token."""

import asyncio
from collections.abc import Awaitable

import httpx
import pytest
from graphmem_api.limits import expanded_size
from graphql import get_introspection_query, parse

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


def test_the_expanded_size_counts_every_spread_of_every_operation() -> None:
    assert expanded_size(parse(nested(3))) == 1 + 2 * (2**3 - 1) + 2**3
    assert expanded_size(parse("query A { a } query B { b { c } ... on Query { d } }")) == 5
    assert expanded_size(parse("{ ...Missing }")) == 1
