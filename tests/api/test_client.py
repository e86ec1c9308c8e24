"""The typed clients, against a served API and against the schema."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from types import UnionType
from typing import Any, get_args, get_origin

import pytest
from graphmem_api.schema import make_schema
from graphql import GraphQLList, GraphQLNonNull, GraphQLObjectType, build_schema, parse, print_schema, validate
from pydantic.alias_generators import to_camel

from graphmem.app import Graphmem
from graphmem.client import AsyncClient, Client, operations
from graphmem.client.operations import error_of
from graphmem.client.results import Result
from graphmem.errors import Conflict, Forbidden, GraphmemError, Locked, NotFound, Unavailable
from graphmem.jobs.runner import run_jobs
from graphmem.model import LedgerCategory, Level, Modality, Observation, Role, SourceKind
from graphmem.settings import Settings
from tests.conftest import PASSWORD, Pupil

SCHEMA = build_schema(print_schema(make_schema(Settings())._schema))
DOCUMENTS = {
    name: text
    for name, text in vars(operations).items()
    if name.isupper() and name.startswith("_") and isinstance(text, str)
}
DOCUMENTS.pop("_OF_STUDENT")
# Results whose names are not those of the schema's types.
NAMES = {"NeighbourhoodResult": "Graph"}


def test_every_document_is_valid() -> None:
    found = {name: validate(SCHEMA, parse(text)) for name, text in DOCUMENTS.items()}
    assert len(found) > 15
    assert {name: errors for name, errors in found.items() if errors} == {}


def test_every_mutation_and_subscription_of_the_schema_is_a_method() -> None:
    for root in (SCHEMA.mutation_type, SCHEMA.subscription_type):
        assert root is not None
        assert {to_camel(name) for name in vars(operations.Operations)} >= set(root.fields)


@pytest.mark.parametrize("result", Result.__subclasses__(), ids=lambda result: result.__name__)
def test_every_result_has_the_types_of_the_schema(result: type[Result]) -> None:
    type_ = SCHEMA.type_map[NAMES.get(result.__name__, result.__name__.removesuffix("Result"))]
    assert isinstance(type_, GraphQLObjectType)
    for name, field in result.model_fields.items():
        expected = type_.fields[to_camel(name)].type
        nullable = not isinstance(expected, GraphQLNonNull)
        inner = expected if nullable else expected.of_type
        annotation = field.annotation
        assert (type(None) in get_args(annotation)) == nullable, name
        kinds = (
            [each for each in get_args(annotation) if each is not type(None)] if _is_union(annotation) else [annotation]
        )
        assert (get_origin(kinds[0]) is tuple) == isinstance(inner, GraphQLList), name


def _is_union(annotation: Any) -> bool:
    return get_origin(annotation) is UnionType


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
        assert (type(turn.level), turn.match, turn.kept) == (Level, None, None)
        assert await app.kept("ada", ["t1", "t2"]) == (None, None)
        assert isinstance(turn.importance, float)
        assert (await app.handle_turn("ada", "t1", "My dog Bello ate my homework on fractions.")).repeated
        at = datetime(2026, 1, 1, tzinfo=UTC)
        (source,) = await app.observe("ada", [Observation(SourceKind.LESSON, "l1", "We learned of dogs.", at)])
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
    async with AsyncClient("http://127.0.0.1:9", "token") as nobody:
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


async def test_an_api_that_is_not_there_is_unavailable() -> None:
    async with AsyncClient("http://127.0.0.1:9", "token") as client:
        with pytest.raises(Unavailable):
            await client.student("ada")


def test_every_code_has_its_class() -> None:
    assert type(error_of({"message": "m", "extensions": {"code": "CONFLICT"}})) is Conflict
    assert type(error_of({"message": "m", "extensions": {"code": "INTERNAL"}})) is GraphmemError
    assert type(error_of({"message": "m"})) is GraphmemError
