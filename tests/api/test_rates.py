"""Limits a minute, by role, institution and student; an error says when to come again (spec 15, 19)."""

from collections.abc import Callable
from typing import Any

import httpx

from graphmem.app import Graphmem
from graphmem.limits import Rates
from graphmem.model import Role
from graphmem.settings import Settings
from tests.conftest import Enrol, Pupil, another_replica, served
from tests.support.client import TURN

OBSERVE = """mutation($s: ID!, $o: [ObservationInput!]!) { observe(studentId: $s, observations: $o) { id } }"""
BY = {"institution": "school", "role": "app", "student": "ann"}
Bearer = Callable[[Role], str]


def limited(gm: Graphmem, **changes: int) -> Graphmem:
    settings = gm.settings.model_copy(update=changes)
    return another_replica(gm, settings=settings, rates=Rates(settings))


async def sent(http: httpx.AsyncClient, bearer: str, session: str | None, query: str, **variables: Any) -> Any:
    headers = {"Authorization": f"Bearer {bearer}"} | ({} if session is None else {"X-Graphmem-Session": session})
    answer = (await http.post("/graphql", json={"query": query, "variables": variables}, headers=headers)).json()
    return answer["errors"][0] if answer.get("errors") else "ok"


async def test_turns_of_a_student(gm: Graphmem, ann: Pupil, enrol: Enrol, bearer: Bearer) -> None:
    ben, app = await enrol("ben"), bearer(Role.APP)
    replica = limited(gm, turns_minute=2)
    async with served(replica) as address, httpx.AsyncClient(base_url=address, timeout=60) as http:
        for i in range(2):
            assert await sent(http, app, ann.token, TURN, student="ann", turn=f"t{i}", text="Hello.") == "ok"
        refused = await sent(http, app, ann.token, TURN, student="ann", turn="t2", text="Hello.")
        assert refused["extensions"]["code"] == "RATE_LIMITED"
        assert 1 <= refused["extensions"]["retryAfter"] <= 30
        assert f"try again in {refused['extensions']['retryAfter']} seconds" in refused["message"]
        assert await sent(http, app, ben.token, TURN, student="ben", turn="t0", text="Hello.") == "ok"
    rows = await gm.graph.execute(
        "MATCH (t:Turn {institution: $i}) RETURN count(t) AS n", {"i": ann.who.institution}, reads=True
    )
    assert rows == [{"n": 3}]


async def test_observations_of_a_role_and_requests(gm: Graphmem, ann: Pupil, bearer: Bearer) -> None:
    replica = limited(gm, observations_minute=3, observations_institution_minute=5, requests_minute=4)
    lesson = {"kind": "LESSON", "text": "We did fractions."}
    async with served(replica) as address, httpx.AsyncClient(base_url=address, timeout=60) as http:
        app, teacher = bearer(Role.APP), bearer(Role.TEACHER)
        assert await sent(http, app, ann.token, OBSERVE, s="ann", o=[lesson] * 3) == "ok"
        refused = await sent(http, app, ann.token, OBSERVE, s="ann", o=[lesson])
        assert refused["extensions"]["retryAfter"] <= 20
        assert await sent(http, teacher, None, OBSERVE, s="ann", o=[lesson] * 2) == "ok"
        assert "institution" in (await sent(http, teacher, None, OBSERVE, s="ann", o=[lesson]))["message"]
        for _ in range(2):
            assert await sent(http, teacher, None, "{ concepts { total } }") == "ok"
        refused = await sent(http, teacher, None, "{ concepts { total } }")
        assert (refused["extensions"]["code"], "requests of a role" in refused["message"]) == ("RATE_LIMITED", True)
        # Another role, and whoever has no token at all.
        assert await sent(http, bearer(Role.ADMIN), None, "{ concepts { total } }") == "ok"
        assert (await sent(http, "none", None, "{ concepts { total } }"))["extensions"]["code"] == "UNAUTHENTICATED"


def test_no_limit_is_none() -> None:
    rates = Rates(Settings(turns_minute=0))
    for _ in range(10_000):
        rates.check("turns", 1_000, 0.0, **BY)
