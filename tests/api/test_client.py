"""The typed clients, against a served API and against the schema."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from graphql import GraphQLObjectType, build_schema, parse, print_schema, validate
from pydantic.alias_generators import to_camel

from graphmem.app import Graphmem
from graphmem.errors import Conflict, Forbidden, GraphmemError, Locked, NotFound, Unavailable
from graphmem.jobs.runner import run_jobs
from graphmem.model import Concept, Role
from graphmem_api.schema import make_schema
from graphmem_client import AsyncClient, Client, generated
from graphmem_client.base import as_json
from graphmem_client.errors import error_of
from graphmem_client.generated import LedgerCategory, Modality, ObservationInput, SourceKind, SurpriseLevel
from tests.conftest import PASSWORD, Pupil

ROOT = Path(__file__).parents[2]
SCHEMA = build_schema(print_schema(make_schema()._schema))
DOCUMENTS = {
    name: text
    for name, text in vars(generated).items()
    if name.isupper() and name.startswith("_") and isinstance(text, str)
}


def test_generated_file_is_current() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "generate_client.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0


def test_every_document_is_valid() -> None:
    found = {name: validate(SCHEMA, parse(text)) for name, text in DOCUMENTS.items()}
    assert len(found) > 60
    assert {name: errors for name, errors in found.items() if errors} == {}


@pytest.mark.parametrize("kind", [generated.AsyncOperations, generated.Operations])
def test_every_operation_is_a_method(kind: type) -> None:
    roots = [each for each in (SCHEMA.query_type, SCHEMA.mutation_type, SCHEMA.subscription_type) if each is not None]
    student = SCHEMA.type_map["Student"]
    assert isinstance(student, GraphQLObjectType)
    wanted = {name for root in roots for name in root.fields}
    wanted |= {name for name, field in student.fields.items() if field.args} | {"questions", "verifyIntegrity"}
    assert {to_camel(name) for name in vars(kind)} >= wanted


def test_texts_are_not_in_the_representation_of_a_result() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    fact = generated.Fact(id="fact-1", text="Likes horses.", tags=("horse",), created_at=now, why=())
    assert "orse" not in repr(fact)
    assert "fact-1" in repr(fact)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (Concept("c", "Half", ("1/2",), grade=2), {"id": "c", "name": "Half", "aliases": ["1/2"], "grade": 2}),
        ({"id": "c", "name": "Half"}, {"id": "c", "name": "Half", "aliases": []}),
    ],
    ids=["of an object", "of a mapping"],
)
def test_inputs_are_made(given: object, expected: dict[str, object]) -> None:
    assert as_json(generated.ConceptInput.of(given)) == {"misconceptions": [], **expected}


async def test_a_student_from_enrolment_to_the_end(api: str, bearer: Callable[[Role], str]) -> None:
    async with AsyncClient(api, bearer(Role.ADMIN)) as admin, AsyncClient(api, bearer(Role.APP)) as app:
        enrolled = await admin.enrol_student("ada", PASSWORD, "Ada")
        assert (enrolled.id, enrolled.locked, enrolled.display_name) == ("ada", True, None)
        with pytest.raises(Conflict):
            await admin.enrol_student("ada", PASSWORD)
        with pytest.raises(Locked):
            await app.handle_turn("ada", "t1", "My dog Bello ate my homework.")
        opened = await app.open_session("ada", PASSWORD)
        assert opened.expires_at > datetime.now(UTC)
        found = await app.student("ada")
        assert found is not None
        assert (found.locked, found.display_name) == (False, "Ada")
        turn = await app.handle_turn("ada", "t1", "My dog Bello ate my homework on fractions.")
        assert turn.reply
        assert (type(turn.level), turn.match, turn.kept) == (SurpriseLevel, None, None)
        assert await app.kept("ada", ["t1", "t2"]) == (None, None)
        assert isinstance(turn.importance, float)
        assert (await app.handle_turn("ada", "t1", "My dog Bello ate my homework on fractions.")).repeated
        at = datetime(2026, 1, 1, tzinfo=UTC)
        lesson = ObservationInput(kind=SourceKind.LESSON, ref="l1", text="We learned of dogs.", at=at)
        (source,) = await app.observe("ada", [lesson])
        assert (source.kind, source.ref, source.at) == (SourceKind.LESSON, "l1", at)
        recalled = await app.recall("ada", "What is the dog called?", limit=5)
        assert any("Bello" in (each.memory.content or "") for each in recalled)
        assert "Bello" in (await app.context("ada", "What is the dog called?", token_budget=300)).prompt
        entry = await app.add_ledger_entry("ada", LedgerCategory.PROMISE, "Bring the dog along.", triggers=["dog"])
        assert [each.id for each in await app.ledger("ada", active=True)] == [entry.id]
        assert not (await app.settle_ledger_entry("ada", entry.id)).is_active
        assert await app.questions("ada") == ()
        assert (await app.jobs("ada")).total >= 1
        assert (await app.usage("ada")).calls == 0
        page = await app.memories("ada", first=5)
        assert page.total >= 1
        assert {type(each.modality) for each in page.items} == {Modality}
        around = await app.around("ada", page.items[0].id)
        assert page.items[0].id in {each.id for each in around.memories}
        assert await app.close_session("ada")
        with pytest.raises(Locked):
            await app.memories("ada")
        async with AsyncClient(api, bearer(Role.AUDITOR)) as auditor:
            clear = await auditor.memories("ada", first=5)
            assert [each.id for each in clear.items] == [each.id for each in page.items]
            assert {each.content for each in clear.items} == {None}
        with pytest.raises(NotFound):
            await app.facts("nobody")
        with pytest.raises(Forbidden):
            await app.enrol_student("eve", PASSWORD)


async def test_the_blocking_client_runs_the_same_code(api: str, bearer: Callable[[Role], str], ann: Pupil) -> None:
    def talk() -> tuple[str, int]:
        with Client(api, bearer(Role.APP)) as client:
            client.open_session("ann", ann.password)
            turn = client.handle_turn("ann", "t1", "I like my horse Bella.")
            again = client.execute("query($s: ID!) { student(id: $s) { memoryCount } }", "ann", s="ann")
            with pytest.raises(NotFound):
                client.facts("nobody")
            return turn.reply, int(again["memoryCount"])

    reply, memories = await asyncio.to_thread(talk)
    assert reply
    assert memories >= 0


async def test_a_reply_streams_and_so_do_events(
    api: str, gm: Graphmem, bearer: Callable[[Role], str], ann: Pupil
) -> None:
    async with AsyncClient(api, bearer(Role.APP)) as client:
        with pytest.raises(Locked):
            await anext(client.turn_stream("ann", "t1", "I like my horse Bella."))
        await client.open_session("ann", ann.password)
        events = client.memory_events("ann")
        first = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0.3)
        told = [each async for each in client.turn_stream("ann", "t1", "I like my horse Bella.")]
        assert told[-1].turn is not None
        assert "".join(each.token or "" for each in told) == told[-1].turn.reply
        await run_jobs(gm, ann.session)
        event = await asyncio.wait_for(first, 20)
        assert event.kind == "formed"
        memory = await client.memory("ann", event.memory_id)
        assert memory is not None
        assert "Bella" in (memory.content or "")
        await client.close_session("ann")
        with pytest.raises(Locked):
            async for _ in events:
                pass
    async with AsyncClient("http://127.0.0.1:9", "token", patience=0.5) as nobody:
        with pytest.raises(Unavailable):
            await anext(nobody.memory_events("ann"))


async def test_the_blocking_client_streams(api: str, bearer: Callable[[Role], str], ann: Pupil) -> None:
    def talk() -> list[str | None]:
        with Client(api, bearer(Role.APP)) as client:
            client.open_session("ann", ann.password)
            *pieces, last = client.turn_stream("ann", "t1", "I like my horse Bella.")
            assert last.turn is not None
            assert "".join(each.token or "" for each in pieces) == last.turn.reply
            events = client.memory_events("ann")
            client.close_session("ann")
            with pytest.raises(Locked):
                next(events)
            return [each.token for each in pieces]

    assert len(await asyncio.to_thread(talk)) > 1


async def test_a_stream_without_websockets_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "websockets.asyncio.client", None)
    async with AsyncClient("http://127.0.0.1:9", "token") as client:
        with pytest.raises(GraphmemError, match=r"graphmem-client\[stream\]"):
            await anext(client.memory_events("ann"))


async def test_an_api_that_is_not_there_is_unavailable() -> None:
    async with AsyncClient("http://127.0.0.1:9", "token", patience=0.0) as client:
        with pytest.raises(Unavailable):
            await client.student("ada")


class Losing(httpx.AsyncHTTPTransport):
    """Passes requests on, and loses the first ones or their answers."""

    def __init__(self, kinds: Sequence[str]) -> None:
        super().__init__()
        self.kinds, self.sent = list(kinds), 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        kind = self.kinds.pop(0) if self.kinds else "answered"
        self.sent += 1
        if kind == "not sent":
            raise httpx.ConnectError("nobody listens")
        if kind == "too many connections":
            return httpx.Response(503)
        if kind == "UNAVAILABLE":
            error = {"message": "The database does not answer.", "extensions": {"code": "UNAVAILABLE"}}
            return httpx.Response(200, json={"data": None, "errors": [error]})
        response = await super().handle_async_request(request)
        if kind == "answer lost":
            await response.aread()
            raise httpx.ReadError("the connection broke")
        return response


@pytest.mark.parametrize(
    "kinds",
    [
        ("not sent", "not sent"),
        ("too many connections",),
        ("UNAVAILABLE", "UNAVAILABLE"),
        ("answer lost", "UNAVAILABLE", "answer lost"),
    ],
    ids=" ".join,
)
async def test_a_turn_without_an_answer_is_sent_again_and_handled_once(
    api: str, bearer: Callable[[Role], str], ann: Pupil, kinds: Sequence[str], caplog: pytest.LogCaptureFixture
) -> None:
    async with AsyncClient(api, bearer(Role.APP)) as sure:
        await sure.open_session("ann", ann.password)
        transport = Losing(kinds)
        async with AsyncClient(
            http=httpx.AsyncClient(base_url=api, transport=transport, timeout=120), token=sure.token
        ) as client:
            client.sessions = sure.sessions
            turn = await client.handle_turn("ann", "t1", "I like my horse Bella.")
        assert turn.repeated == ("answer lost" in kinds)
        assert transport.sent == len(kinds) + 1
        assert sum("sent again" in each.getMessage() for each in caplog.records) == len(kinds)
        again = await sure.handle_turn("ann", "t1", "I like my horse Bella.")
        assert (again.repeated, again.reply) == (True, turn.reply)


async def test_what_stays_unavailable_is_given_up_after_patience() -> None:
    transport = Losing(["UNAVAILABLE"] * 99)
    http = httpx.AsyncClient(base_url="http://127.0.0.1:9", transport=transport)
    async with AsyncClient(http=http, patience=1.0) as client:
        with pytest.raises(Unavailable):
            await client.student("ada")
    assert transport.sent in (3, 4)


async def test_a_refusal_of_a_later_try_says_that_an_earlier_one_may_have_taken_effect(
    api: str, bearer: Callable[[Role], str]
) -> None:
    http = httpx.AsyncClient(base_url=api, transport=Losing(["answer lost"]), timeout=120)
    async with AsyncClient(http=http, token=bearer(Role.ADMIN)) as admin:
        with pytest.raises(Conflict) as told:
            await admin.enrol_student("bea", PASSWORD)
        assert told.value.__notes__ == ["Sent 2 times: an earlier try may have taken effect."]
        with pytest.raises(Conflict) as told:
            await admin.enrol_student("bea", PASSWORD)
        assert not hasattr(told.value, "__notes__")


async def test_the_blocking_client_works_without_with(api: str, bearer: Callable[[Role], str], ann: Pupil) -> None:
    program = f"""
from graphmem import Client
client = Client({api!r}, {bearer(Role.APP)!r})
client.open_session("ann", {ann.password!r})
print(bool(client.handle_turn("ann", "t1", "I like my horse Bella.").reply))
print(len([*client.turn_stream("ann", "t2", "And my dog Rex.")]) > 1)
"""
    asked = [sys.executable, "-c", program]
    done = await asyncio.to_thread(subprocess.run, asked, capture_output=True, text=True, timeout=120)
    assert (done.stdout.split(), done.stderr, done.returncode) == (["True", "True"], "", 0)


def test_every_code_has_its_class() -> None:
    assert type(error_of({"message": "m", "extensions": {"code": "CONFLICT"}})) is Conflict
    assert type(error_of({"message": "m", "extensions": {"code": "INTERNAL"}})) is GraphmemError
    assert type(error_of({"message": "m"})) is GraphmemError
