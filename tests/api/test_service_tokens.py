"""Service tokens over HTTP and WebSocket: valid for long, listed, and revoked in every replica."""

import asyncio
from collections.abc import Callable

import httpx
import pytest
import websockets
from cachetools import TTLCache

from graphmem.app import SERVICE_TOKEN_SECONDS, Graphmem
from graphmem.bearer import caller, make_token
from graphmem.errors import InvalidInput, NotFound
from graphmem.flows.students import issue_token, list_tokens, revoke_token
from graphmem.model import Role
from tests.api.websocket import connected
from tests.conftest import Pupil, another_replica, served
from tests.support.client import Client, Refused

LIST = "{ serviceTokens { id name role createdAt expiresAt usedAt revokedAt } }"
REVOKE = "mutation Revoke($id: ID!) { revokeToken(id: $id) { id revokedAt } }"
SEEN = "query Seen($id: ID!) { student(id: $id) { id } }"


async def test_a_service_token_lives_long_and_is_listed(
    gm: Graphmem, http: httpx.AsyncClient, bearer: Callable[[Role], str], institution: str, ann: Pupil
) -> None:
    text, token = await issue_token(gm, institution, Role.APP, "the tutoring app")
    assert (token.expires_at - token.created_at).days == 365
    assert caller(text, gm.secret).token_id == token.id
    assert await Client(http, text).call(SEEN, id="ann") == {"id": "ann"}
    (listed,) = await Client(http, bearer(Role.ADMIN)).call(LIST)
    assert (listed["id"], listed["name"], listed["role"]) == (token.id, "the tutoring app", "app")
    assert listed["usedAt"] is not None
    assert listed["revokedAt"] is None
    stored = await gm.graph.execute("MATCH (t:ServiceToken {id: $i}) RETURN t", {"i": token.id}, reads=True)
    assert text not in repr(stored)


async def test_a_revoked_token_is_refused_by_every_replica_within_seconds(
    gm: Graphmem, http: httpx.AsyncClient, bearer: Callable[[Role], str], institution: str, ann: Pupil
) -> None:
    text, token = await issue_token(gm, institution, Role.APP, "the tutoring app")
    elsewhere = another_replica(gm, valid_tokens={})
    async with served(elsewhere) as address, httpx.AsyncClient(base_url=address, timeout=30) as other:
        for each in (http, other):
            assert await Client(each, text).call(SEEN, id="ann") == {"id": "ann"}
        revoked = await Client(http, bearer(Role.ADMIN)).call(REVOKE, id=token.id)
        assert await Client(http, bearer(Role.ADMIN)).call(REVOKE, id=token.id) == revoked
        with pytest.raises(Refused, match="was revoked") as refused:
            await Client(http, text).call(SEEN, id="ann")
        assert refused.value.code == "UNAUTHENTICATED"
        # The other one trusts what it has seen until that runs out.
        assert SERVICE_TOKEN_SECONDS <= 5
        elsewhere.valid_tokens.clear()
        with pytest.raises(Refused, match="was revoked"):
            await Client(other, text).call(SEEN, id="ann")


async def test_a_token_that_nobody_keeps_is_refused(gm: Graphmem, http: httpx.AsyncClient, institution: str) -> None:
    text = make_token(gm.secret, institution, Role.ADMIN, 60, gm.clock(), "made up")
    with pytest.raises(Refused, match="was revoked"):
        await Client(http, text).call(LIST)
    another = make_token(gm.secret, f"{institution}-2", Role.ADMIN, 60, gm.clock(), "made up")
    with pytest.raises(Refused, match="was revoked"):
        await Client(http, another).call(LIST)


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.ADMIN])
async def test_only_admins_see_and_revoke_tokens(
    http: httpx.AsyncClient, bearer: Callable[[Role], str], role: Role
) -> None:
    for query, variables in ((LIST, {}), (REVOKE, {"id": "any"})):
        with pytest.raises(Refused) as refused:
            await Client(http, bearer(role)).call(query, **variables)
        assert refused.value.code == "FORBIDDEN"


async def test_tokens_belong_to_an_institution(gm: Graphmem, institution: str) -> None:
    _, token = await issue_token(gm, institution, Role.TEACHER, "a class book")
    assert await list_tokens(gm, f"{institution}-2") == []
    with pytest.raises(NotFound):
        await revoke_token(gm, f"{institution}-2", token.id)
    (kept,) = await list_tokens(gm, institution)
    assert kept.revoked_at is None


@pytest.mark.parametrize(("name", "days"), [("", 1.0), ("x" * 201, 1.0), ("an app", 0.0), ("an app", 1e9)])
async def test_a_token_that_will_not_do_is_not_made(gm: Graphmem, institution: str, name: str, days: float) -> None:
    with pytest.raises(InvalidInput):
        await issue_token(gm, institution, Role.APP, name, days)
    assert await list_tokens(gm, institution) == []


async def test_a_connection_ends_when_its_token_is_revoked(
    gm: Graphmem, institution: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphmem_api.websocket.SERVICE_TOKEN_SECONDS", 0.2)
    text, token = await issue_token(gm, institution, Role.APP, "the tutoring app")
    # The replica forgets what it found valid as any does: its first look may end after the token was revoked.
    soon = another_replica(gm, valid_tokens=TTLCache(10, 0.2))
    async with served(soon) as address, connected(address, Authorization=f"Bearer {text}") as socket:
        await revoke_token(gm, institution, token.id)
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await asyncio.wait_for(socket.recv(), 10)
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4401, "UNAUTHENTICATED: the token was revoked")
