"""Background work over GraphQL: who may see and restart it, and that nobody sees another institution's."""

from collections.abc import Callable

import httpx
import pytest

from graphmem.app import Graphmem
from graphmem.bearer import make_token
from graphmem.jobs.runner import run_jobs
from graphmem.model import Role
from tests.conftest import Pupil, say
from tests.support.client import TURN, Client, Refused

Bearer = Callable[[Role], str]

JOBS = """query($student: ID, $state: JobState, $first: Int, $after: String) {
  jobs(studentId: $student, state: $state, first: $first, after: $after) {
    total next items { id kind studentId state attempts error createdAt runAfter } } }"""
TURN_JOBS = """mutation($text: String!) {
  handleTurn(studentId: "ann", turnId: "t", text: $text) { jobs { id } } }"""
RETRY = "mutation($id: ID!) { retryJob(id: $id) { id state attempts error } }"
USAGE = """query($student: ID, $since: DateTime) {
  usage(studentId: $student, since: $since) { calls inputTokens outputTokens cost } }"""


async def killed(gm: Graphmem, pupil: Pupil) -> None:
    """Give up the job that forms what a student said."""
    kill = """MATCH (j:Job {institution: $i, kind: 'form'})
              SET j.state = 'dead', j.attempts = 5, j.error = 'It is too late.'"""
    await gm.graph.execute(kill, {"i": pupil.who.institution}, reads=False)


async def test_jobs_are_listed_and_a_dead_one_starts_again(
    http: httpx.AsyncClient, bearer: Bearer, gm: Graphmem, ann: Pupil
) -> None:
    await say(gm, ann, "I have a dog called Rex.")
    await killed(gm, ann)
    admin = Client(http, bearer(Role.ADMIN))
    page = await admin.call(JOBS, state="DEAD")
    assert (page["total"], page["next"]) == (1, None)
    (job,) = page["items"]
    assert (job["id"], job["kind"], job["studentId"]) == ("ann/form-1", "form", "ann")
    assert (job["state"], job["attempts"], job["error"]) == ("DEAD", 5, "It is too late.")
    again = await admin.call(RETRY, id=job["id"])
    assert again == {"id": job["id"], "state": "WAITING", "attempts": 0, "error": None}
    with pytest.raises(Refused) as refused:
        await admin.call(RETRY, id=job["id"])
    assert refused.value.code == "CONFLICT"
    await run_jobs(gm, ann.session)
    assert job["id"] in [done["id"] for done in (await admin.call(JOBS, student="ann", state="DONE"))["items"]]


async def test_a_turn_names_its_jobs_as_the_list_does(app_client: Client) -> None:
    told = await app_client.call(TURN_JOBS, text="I have a dog called Rex.")
    listed = await app_client.call(JOBS, student="ann")
    assert sorted(job["id"] for job in told["jobs"]) == sorted(job["id"] for job in listed["items"])


async def test_nobody_sees_or_restarts_another_institutions_jobs(
    http: httpx.AsyncClient, gm: Graphmem, ann: Pupil
) -> None:
    await say(gm, ann, "I have a dog called Rex.")
    await killed(gm, ann)
    stranger = Client(http, make_token(gm.secret, f"other-{ann.who.institution}", Role.ADMIN, 60, gm.clock()))
    assert (await stranger.call(JOBS))["total"] == (await stranger.call(JOBS, student="ann"))["total"] == 0
    with pytest.raises(Refused) as refused:
        await stranger.call(RETRY, id="ann/form-1")
    assert refused.value.code == "NOT_FOUND"


@pytest.mark.parametrize("role", list(Role))
async def test_roles(http: httpx.AsyncClient, bearer: Bearer, gm: Graphmem, ann: Pupil, role: Role) -> None:
    await say(gm, ann, "I have a dog called Rex.")
    await killed(gm, ann)
    client, refused = Client(http, bearer(role)), set()
    for query, given in ((JOBS, {}), (USAGE, {}), (RETRY, {"id": "ann/form-1"})):
        try:
            await client.call(query, **given)
        except Refused as e:
            refused.add((query, e.code))
    forbidden = {Role.ADMIN: [], Role.AUDITOR: [RETRY]}.get(role, [JOBS, USAGE, RETRY])
    # An app needs the student's session.
    assert refused == {(query, "LOCKED" if role is Role.APP else "FORBIDDEN") for query in forbidden}


async def test_what_will_not_do_is_refused(http: httpx.AsyncClient, bearer: Bearer) -> None:
    client = Client(http, bearer(Role.ADMIN))
    for query, given in (
        (JOBS, {"first": 0}),
        (JOBS, {"first": 1_000_000}),
        (JOBS, {"after": "nonsense"}),
        (JOBS, {"student": " "}),
        (USAGE, {"since": "2026-01-15T00:00:00"}),
        (USAGE, {"student": ""}),
    ):
        with pytest.raises(Refused) as refused:
            await client.call(query, **given)
        assert refused.value.code == "INVALID_INPUT", given
    with pytest.raises(Refused) as refused:
        await client.call(RETRY, id="nobody/form-1")
    assert refused.value.code == "NOT_FOUND"


async def test_what_turns_with_the_offline_mind_cost_is_nothing(app_client: Client) -> None:
    await app_client.call(TURN, student="ann", turn="t", text="I have a dog called Rex.")
    nothing = {"calls": 0, "inputTokens": 0, "outputTokens": 0, "cost": 0.0}
    assert await app_client.call(USAGE) == await app_client.call(USAGE, since="2026-01-15T00:00:00Z") == nothing
