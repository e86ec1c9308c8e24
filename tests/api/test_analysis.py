"""Named queries for analysts over GraphQL: what is clear of their institution, and nothing is written (spec 15, 18)."""

from collections.abc import Callable

import httpx
import pytest

from graphmem.app import Graphmem
from graphmem.bearer import make_token
from graphmem.errors import Forbidden, InvalidInput, NotFound
from graphmem.flows.analysis import declared, list_queries
from graphmem.model import Role
from graphmem_client import AsyncClient
from tests.conftest import Pupil
from tests.support.client import Client
from tests.support.remembering import LIFE, lived

LISTED = "{ analyses { name description params } }"
Bearer = Callable[[Role], str]


async def test_every_query_is_listed_and_runs(
    gm: Graphmem, api: str, http: httpx.AsyncClient, bearer: Bearer, ann: Pupil
) -> None:
    await lived(gm, ann, LIFE[:3])
    listed = await Client(http, bearer(Role.ANALYST)).call(LISTED)
    assert [each["name"] for each in listed] == list(list_queries())
    values = {"str": "ann", "int": 10, "datetime": gm.clock().isoformat(), "float": 7.0}
    async with AsyncClient(api, bearer(Role.ANALYST)) as client:
        for each in listed:
            assert "institution" not in each["params"]
            given = {name: values[type_] for name, type_ in each["params"].items() if type_ in ("str", "int")}
            found = await client.analysis(each["name"], given)
            assert not found.truncated
            text = str(found.rows)
            assert not any(word in text for word in ("Lisbon", "teal", "climbing")), each["name"]
        kinds = await client.analysis("memories_by_kind", {"student_id": "ann"})
        assert sum(row["memories"] for row in kinds.rows) >= 3


async def test_an_analyst_sees_the_tokens_institution_only(gm: Graphmem, api: str, ann: Pupil) -> None:
    await lived(gm, ann, LIFE[:3])
    elsewhere = make_token(gm.secret, f"other-{ann.who.institution}", Role.ANALYST, 600, gm.clock())
    async with AsyncClient(api, elsewhere) as client:
        assert (await client.analysis("memories_by_kind", {"student_id": "ann"})).rows == []
        with pytest.raises(InvalidInput, match="no parameter 'institution'"):
            await client.analysis("memories_by_kind", {"student_id": "ann", "institution": ann.who.institution})


async def test_what_will_not_do(api: str, bearer: Bearer) -> None:
    async with AsyncClient(api, bearer(Role.ANALYST)) as client:
        with pytest.raises(NotFound, match="edges_by_type"):
            await client.analysis("turn/complete", {})
        for given in ({}, {"student_id": 1}, {"student_id": "ann", "x": 1}, {"student_id": "x" * 2000}):
            with pytest.raises(InvalidInput):
                await client.analysis("edges_by_type", given)
        with pytest.raises(InvalidInput):
            await client.analysis("concepts_struggled", {"limit": -1})
    async with AsyncClient(api, bearer(Role.ADMIN)) as client:
        with pytest.raises(Forbidden):
            await client.analysis("edges_by_type", {"student_id": "ann"})


def test_every_query_only_reads_and_filters_by_institution() -> None:
    for name, query in list_queries().items():
        assert query.reads, name
        assert "institution" in declared(query), name
