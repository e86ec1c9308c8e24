"""Wrong requests over HTTP: the right code each, and nothing stored."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import jwt
import pytest

from graphmem import sealing
from graphmem.app import Graphmem
from graphmem.bearer import make_token
from graphmem.model import Role
from tests.conftest import PASSWORD, Enrol, Pupil
from tests.support.client import CLOSE, ENROL, OPEN, TURN, Client, Refused

Bearer = Callable[[Role], str]


async def code_of(client: Client, query: str, **variables: Any) -> str:
    with pytest.raises(Refused) as refused:
        await client.call(query, **variables)
    return refused.value.code


async def turn_code(client: Client, student: str = "ann", **changes: Any) -> str:
    return await code_of(client, TURN, **({"student": student, "turn": "t", "text": "Hello"} | changes))


@pytest.fixture(autouse=True)
async def nothing_stored(gm: Graphmem, ann: Pupil) -> Any:
    """After each test here the student has no turn."""
    yield
    rows = await gm.graph.execute(
        "MATCH (n:Turn|Source|Fact {institution: $i}) RETURN n", {"i": ann.who.institution}, reads=True
    )
    assert rows == []


async def test_without_a_token_of_ours(app_client: Client) -> None:
    other = jwt.encode({"iss": "graphmem", "institution": "x", "role": "admin", "exp": 9999999999}, "k" * 32)
    none = jwt.encode({"iss": "graphmem", "institution": "x", "role": "admin", "exp": 9999999999}, "", algorithm="none")
    for token in ("nonsense", "a.b.c", other, none):
        assert await turn_code(replace(app_client, token=token)) == "UNAUTHENTICATED"


async def test_with_an_expired_token(gm: Graphmem, app_client: Client, ann: Pupil) -> None:
    yesterday = datetime.now(UTC) - timedelta(days=1)
    expired = make_token(gm.secret, ann.who.institution, Role.APP, 60, yesterday)
    assert await turn_code(replace(app_client, token=expired)) == "UNAUTHENTICATED"


@pytest.mark.parametrize("role", [Role.TEACHER, Role.AUDITOR, Role.ANALYST, Role.ADMIN])
async def test_a_turn_is_for_apps_only(app_client: Client, bearer: Bearer, role: Role) -> None:
    assert await turn_code(replace(app_client, token=bearer(role))) == "FORBIDDEN"


@pytest.mark.parametrize("role", [Role.APP, Role.TEACHER, Role.AUDITOR, Role.ANALYST])
async def test_enrolling_is_for_admins_only(app_client: Client, bearer: Bearer, role: Role) -> None:
    client = replace(app_client, token=bearer(role))
    assert await code_of(client, ENROL, student="bob", password=PASSWORD) == "FORBIDDEN"


async def test_without_a_session(app_client: Client) -> None:
    for session in (None, "nonsense", "A" * 300):
        assert await turn_code(replace(app_client, session=session)) == "LOCKED"


async def test_with_an_expired_session(gm: Graphmem, app_client: Client, ann: Pupil) -> None:
    past = replace(ann.session, expires_at=datetime.now(UTC) - timedelta(seconds=1))
    client = replace(app_client, session=sealing.session_token(gm.secret, past))
    assert await turn_code(client) == "LOCKED"


async def test_after_the_session_was_closed(app_client: Client) -> None:
    assert await app_client.call(CLOSE, student="ann") is True
    assert await turn_code(app_client) == "LOCKED"


async def test_another_students_id(app_client: Client, enrol: Enrol) -> None:
    await enrol("bob")
    assert await turn_code(app_client, "bob") == "LOCKED"
    assert await turn_code(app_client, "nobody") == "LOCKED"


async def test_another_institution(gm: Graphmem, app_client: Client) -> None:
    elsewhere = make_token(gm.secret, f"another-{uuid4().hex}", Role.APP, 60, datetime.now(UTC))
    client = replace(app_client, token=elsewhere)
    assert await turn_code(client) == "LOCKED"
    assert await code_of(client, OPEN, student="ann", password=PASSWORD) == "LOCKED"
    assert await client.call("query($id: ID!) { student(id: $id) { id } }", id="ann") is None


async def test_a_wrong_password(app_client: Client) -> None:
    assert await code_of(app_client, OPEN, student="ann", password="not it at all") == "LOCKED"


@pytest.mark.parametrize(
    "changes",
    [
        {"text": "x" * 33_000},
        {"text": ""},
        {"text": "a\x00b"},
        {"text": 5},
        {"text": None},
        {"turn": ""},
        {"turn": "x" * 500},
        {"at": "tomorrow"},
        {"at": "2026-01-01T00:00:00"},
        {"at": "2999-01-01T00:00:00Z"},
        {"at": 5},
        {"student": "x" * 500},
    ],
)
async def test_bad_values(app_client: Client, changes: dict[str, Any]) -> None:
    assert await turn_code(app_client, **changes) == "INVALID_INPUT"


async def posted(http: httpx.AsyncClient, client: Client, body: str | bytes, kind: str = "application/json") -> Any:
    headers = {"Authorization": f"Bearer {client.token}", "X-Graphmem-Session": client.session or ""}
    response = await http.post("/graphql", content=body, headers=headers | {"Content-Type": kind})
    return response.json()["errors"][0]["extensions"]["code"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
async def test_not_a_number(http: httpx.AsyncClient, app_client: Client, number: str) -> None:
    body = json.dumps({"query": TURN, "variables": {"student": "ann", "turn": "t", "text": "@"}})
    assert await posted(http, app_client, body.replace('"@"', number)) == "INVALID_INPUT"


@pytest.mark.parametrize(
    "body", ["", "{", "[]", "null", '{"query": 5}', '{"query": "{"}', '{"variables": {}}', b"\xff\xfe", "[" * 100_000]
)
async def test_what_is_no_request(http: httpx.AsyncClient, app_client: Client, body: str | bytes) -> None:
    assert await posted(http, app_client, body) == "INVALID_INPUT"


async def test_a_request_that_is_too_large(http: httpx.AsyncClient, app_client: Client) -> None:
    body = json.dumps({"query": TURN, "variables": {"text": "x" * 1_100_000}})
    assert await posted(http, app_client, body) == "INVALID_INPUT"


async def test_a_request_that_does_not_say_how_large_it_is(http: httpx.AsyncClient, app_client: Client) -> None:
    async def endless() -> Any:
        for _ in range(20):
            yield b"x" * 100_000

    headers = {"Authorization": f"Bearer {app_client.token}", "Content-Type": "application/json"}
    response = await http.post("/graphql", content=endless(), headers=headers)
    assert response.status_code == 413


DEEP = "{ __schema { types { " + "fields { type { " * 14 + "name" + " } }" * 14 + " } } }"


@pytest.mark.parametrize(
    "query",
    [
        "{ student(id: \"ann\") { surpriseLevel } }",
        "query Q($l: SurpriseLevel!) { student(id: \"ann\") { id } }",
        "{ student(id: ENUM_NOBODY_KNOWS) { id } }",
        "query { " + " ".join(f"a{i}: student(id: \"ann\") {{ id }}" for i in range(40)) + " }",
        "{ student(id: \"ann\") { " + "id " * 3000 + "} }",
        "{ student(id: \"ann\") " + "{ facts " * 30 + "{ id }" + " }" * 30 + " }",
        "mutation { nothingOfTheKind }",
        "subscription { turnStream }",
    ],
)  # fmt: skip
async def test_queries_that_will_not_do(app_client: Client, query: str) -> None:
    assert await code_of(app_client, query) == "INVALID_INPUT"


@pytest.mark.parametrize("first", [0, -1, 201, 10**9])
async def test_page_sizes(app_client: Client, first: int) -> None:
    query = "query($n: Int!) { student(id: \"ann\") { facts(first: $n) { id } } }"  # fmt: skip
    assert await code_of(app_client, query, n=first) == "INVALID_INPUT"


async def test_errors_of_unknown_kind_are_masked(
    gm: Graphmem, app_client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("I have a secret dog called Rex")

    monkeypatch.setattr(gm.offline, "ask", broken)
    with pytest.raises(Refused) as refused:
        await app_client.call(TURN, student="ann", turn="t", text="I have a secret dog called Rex")
    assert refused.value.code == "INTERNAL"
    assert "Rex" not in str(refused.value)
    assert "Rex" not in caplog.text
    assert "RuntimeError" in caplog.text


async def test_queries_in_addresses_are_not_served(http: httpx.AsyncClient) -> None:
    response = await http.get("/graphql", params={"query": "{ student(id: \"ann\") { id } }"})  # fmt: skip
    assert response.status_code >= 400


@pytest.mark.parametrize("document", ["%s", "query Q { __typename } %s"])
async def test_a_subscription_is_for_websockets_only(
    http: httpx.AsyncClient, app_client: Client, caplog: pytest.LogCaptureFixture, document: str
) -> None:
    stream = 'subscription S { turnStream(studentId: "ann", turnId: "t", text: "Hello") { token } }'
    body = json.dumps({"query": document % stream, "operationName": "S"})
    assert await posted(http, app_client, body) == "INVALID_INPUT"
    assert "unexpected" not in caplog.text
