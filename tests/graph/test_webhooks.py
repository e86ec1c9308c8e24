"""Webhooks of institutions, on a real HTTP server: what they are told, signed, tried again (spec 15, 20)."""

import asyncio
import base64
import hmac
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import httpx
import pytest
from pydantic import ValidationError

from graphmem.app import Graphmem, server_secret
from graphmem.commands.operation import send_trial
from graphmem.errors import SetupError
from graphmem.flows.ledger import Draft, add_entry, correct_concern
from graphmem.flows.observation import observe
from graphmem.flows.students import erase_student
from graphmem.jobs.health import list_jobs, retry_job
from graphmem.jobs.sessions import close_session
from graphmem.jobs.webhooks import MOST_TRIES, send_notices, webhook_secret
from graphmem.model import JobState, LedgerCategory, Role, SourceKind
from graphmem.settings import Settings
from tests.conftest import Pupil, another_replica, say, served
from tests.support.client import TURN, Client
from tests.support.remembering import observations

CRY = "I don't want to live anymore."


@dataclass
class Hook:
    """A web server that takes what it is told."""

    address: str = ""
    status: int = 204
    headers: dict[str, str] = field(default_factory=dict)
    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    called: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def told(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.received]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        headers = {name.lower(): value for name, value in headers.items()}
        self.received.append((headers, await reader.readexactly(int(headers["content-length"]))))
        self.called.set()
        extra = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
        writer.write(f"HTTP/1.1 {self.status} X\r\ncontent-length: 0\r\nconnection: close\r\n{extra}\r\n".encode())
        await writer.drain()
        writer.close()


@pytest.fixture
async def hook() -> AsyncIterator[Hook]:
    found = Hook()
    server = await asyncio.start_server(found.serve, "127.0.0.1", 0)
    found.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"
    yield found
    server.close()
    await server.wait_closed()


def telling(gm: Graphmem, institution: str, hook: Hook, **changes: Any) -> Graphmem:
    """A replica that tells this institution's webhook."""
    return another_replica(
        gm, settings=gm.settings.model_copy(update={"webhooks": {institution: hook.address}}), **changes
    )


async def jobs_of(gm: Graphmem, pupil: Pupil, state: JobState | None = None) -> list[Any]:
    page = await list_jobs(gm, pupil.who.institution, pupil.who.student_id, state, 50, None)
    return [job for job in page.items if job.kind == "notify"]


def check_signature(secret: str, headers: dict[str, str], body: bytes) -> None:
    """As the documentation tells receivers to."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, "sha256").digest()).decode()
    assert hmac.compare_digest(expected, headers["webhook-signature"])


async def test_a_concern_is_told_once_signed_and_without_content(gm: Graphmem, ann: Pupil, hook: Hook) -> None:
    gm = telling(gm, ann.who.institution, hook)
    outcome = await say(gm, ann, CRY)
    assert outcome.concern is not None
    assert await send_notices(gm) == 1
    assert await send_notices(gm) == 0
    ((headers, body),) = hook.received
    check_signature(webhook_secret(gm.secret, ann.who.institution), headers, body)
    told = json.loads(body)
    concern = outcome.concern
    assert told["type"] == "concern"
    assert told["data"] == {
        "institution": ann.who.institution,
        "studentId": "ann",
        "id": concern.id,
        "kind": concern.kind.name,
        "urgency": concern.urgency,
        "about": "self",
        "at": told["data"]["at"],
    }
    assert "live" not in body.decode()
    assert abs(int(headers["webhook-timestamp"]) - gm.clock().timestamp()) < 60
    (job,) = await jobs_of(gm, ann)
    assert (job.state, job.error) == (JobState.DONE, None)


async def test_danger_that_an_app_puts_into_the_ledger_is_told_too(gm: Graphmem, ann: Pupil, hook: Hook) -> None:
    gm = telling(gm, ann.who.institution, hook)
    await add_entry(gm, ann.session, Draft(LedgerCategory.THREAT, CRY))
    assert await send_notices(gm) == 1
    assert [each["data"]["kind"] for each in hook.told] == ["SELF_HARM"]


async def test_a_concern_of_a_locked_student_is_told_too(gm: Graphmem, ann: Pupil, hook: Hook) -> None:
    await close_session(gm, ann.session, wait=True)
    gm = telling(gm, ann.who.institution, hook)
    noted = observations(["Ann told me that her father beats her every night."], kind=SourceKind.TEACHER)
    await observe(gm, ann.who, noted)
    # What was said long ago is no news.
    assert await send_notices(gm) == 0
    await observe(gm, ann.who, [replace(noted[0], ref="now", at=gm.clock())])
    assert await send_notices(gm) == 1
    assert [told["type"] for told in hook.told] == ["concern"]


async def test_what_was_taken_back_is_not_told(gm: Graphmem, ann: Pupil, hook: Hook) -> None:
    outcome = await say(gm, ann, CRY)
    assert outcome.concern is not None
    await correct_concern(gm, ann.session, outcome.concern.id)
    assert await send_notices(telling(gm, ann.who.institution, hook)) == 0
    assert hook.received == []


async def test_failures_are_tried_again_later_and_dead_in_the_end(gm: Graphmem, ann: Pupil, hook: Hook) -> None:
    await say(gm, ann, CRY)
    hook.status = 500
    now, waits = gm.clock(), []
    for tries in range(1, MOST_TRIES + 1):
        late = telling(gm, ann.who.institution, hook, clock=lambda now=now: now)
        await send_notices(late)
        assert len(hook.received) == tries
        (job,) = await jobs_of(gm, ann)
        assert (job.attempts, job.error) == (tries, "The webhook answered 500.")
        waits.append((job.run_after - now).total_seconds())
        now = max(now, job.run_after) + timedelta(seconds=1)
    assert waits[:4] == pytest.approx([30, 60, 120, 240], abs=1)
    (job,) = await jobs_of(gm, ann, JobState.DEAD)
    # Of a dead notice nobody is told: that would go to the same address.
    await send_notices(telling(gm, ann.who.institution, hook, clock=lambda: now))
    assert len(hook.received) == MOST_TRIES
    assert len({headers["webhook-id"] for headers, _ in hook.received}) == 1
    hook.status = 200
    await retry_job(gm, ann.who.institution, f"ann/{job.id}")
    await send_notices(telling(gm, ann.who.institution, hook))
    assert (await jobs_of(gm, ann))[0].state is JobState.DONE


async def test_a_dead_job_is_told_once_and_again_when_it_dies_again(gm: Graphmem, ann: Pupil, hook: Hook) -> None:
    await say(gm, ann, "I have a dog called Rex.")
    kill = """MATCH (j:Job {institution: $i, kind: 'form'})
              SET j.state = 'dead', j.attempts = 5, j.run_after = $now, j.error = 'It is too late.'"""
    telling_ = telling(gm, ann.who.institution, hook)
    for times in (1, 2):
        await gm.graph.execute(kill, {"i": ann.who.institution, "now": gm.clock()}, reads=False)
        await send_notices(telling_)
        await send_notices(telling_)
        assert len(hook.received) == times
        await retry_job(gm, ann.who.institution, "ann/form-1")
    assert hook.told[0]["type"] == "deadJob"
    assert hook.told[0]["data"] == {
        "institution": ann.who.institution,
        "studentId": "ann",
        "id": "ann/form-1",
        "kind": "form",
        "attempts": 5,
    }


async def test_two_processes_tell_it_once(gm: Graphmem, ann: Pupil, hook: Hook) -> None:
    for i in range(5):
        await say(gm, ann, f"{CRY} {i}")
    both = [telling(gm, ann.who.institution, hook) for _ in range(2)]
    await asyncio.gather(*(send_notices(each) for each in both))
    await send_notices(both[0])
    ids = [told["data"]["id"] for told in hook.told]
    assert len(ids) == len(set(ids)) == 5


async def test_a_redirection_is_not_followed_and_nobody_is_no_trouble(gm: Graphmem, ann: Pupil, hook: Hook) -> None:
    await say(gm, ann, CRY)
    hook.status, hook.headers = 307, {"location": hook.address.replace("/hook", "/elsewhere")}
    await send_notices(telling(gm, ann.who.institution, hook))
    assert len(hook.received) == 1
    (job,) = await jobs_of(gm, ann)
    assert job.error == "The webhook answered 307."
    away = Hook(address="http://127.0.0.1:9/")
    later = gm.clock() + timedelta(minutes=5)
    await send_notices(telling(gm, ann.who.institution, away, clock=lambda: later))
    (job,) = await jobs_of(gm, ann)
    assert job.error == "The webhook does not answer (ConnectError)."


async def test_what_is_erased_is_told_no_more(gm: Graphmem, ann: Pupil, hook: Hook) -> None:
    hook.status = 500
    await say(gm, ann, CRY)
    await send_notices(telling(gm, ann.who.institution, hook))
    await erase_student(gm, ann.who)
    later = gm.clock() + timedelta(hours=1)
    await send_notices(telling(gm, ann.who.institution, hook, clock=lambda: later))
    assert len(hook.received) == 1
    assert await jobs_of(gm, ann) == []


async def test_a_turn_over_http_tells_at_once(
    gm: Graphmem, ann: Pupil, hook: Hook, bearer: Callable[[Role], str]
) -> None:
    replica = telling(gm, ann.who.institution, hook)
    async with served(replica) as address, httpx.AsyncClient(base_url=address, timeout=30) as http:
        await Client(http, bearer(Role.APP), ann.token).call(TURN, student="ann", turn="t1", text=CRY)
        async with asyncio.timeout(20):
            await hook.called.wait()
    assert hook.told[0]["type"] == "concern"


async def test_no_webhook_no_notice(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, CRY)
    assert await send_notices(gm) == 0
    assert await jobs_of(gm, ann) == []


async def test_an_address_can_be_tried_and_the_secret_printed(settings: Settings, hook: Hook) -> None:
    own = settings.model_copy(update={"webhooks": {"school": hook.address}})
    await send_trial(own, "school")
    ((headers, body),) = hook.received
    check_signature(webhook_secret(server_secret(own), "school"), headers, body)
    assert json.loads(body)["type"] == "test"
    assert webhook_secret(server_secret(own), "school") != webhook_secret(server_secret(own), "other")
    hook.status = 403
    with pytest.raises(SetupError, match="answered 403"):
        await send_trial(own, "school")
    with pytest.raises(SetupError, match="GRAPHMEM_WEBHOOKS"):
        await send_trial(own, "other")


@pytest.mark.parametrize(
    "address",
    [
        "http://school.example/hook",
        "http://10.0.0.1/",
        "ftp://school.example",
        "school",
        "https://",
        "https://a:b@c.example/",
    ],
)
def test_addresses_that_will_not_do(address: str) -> None:
    with pytest.raises(ValidationError, match="must be https"):
        Settings(webhooks={"school": address})


@pytest.mark.parametrize("address", ["https://school.example/hook", "http://localhost:8080/", "http://[::1]:80/x"])
def test_addresses_that_will_do(address: str) -> None:
    assert Settings(webhooks={"school": address}).webhooks
