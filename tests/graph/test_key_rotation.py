"""A student's key is replaced and all is sealed anew, or nothing is (spec 14)."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest

from graphmem import sealing
from graphmem.app import Graphmem
from graphmem.errors import Conflict, Locked, Tampered
from graphmem.flows import students
from graphmem.flows.memories import list_memories
from graphmem.flows.observation import observe
from graphmem.flows.students import erase_student, keep_up, verify_integrity
from graphmem.flows.transfer import export_student
from graphmem.jobs.runner import run_jobs
from graphmem.model import Role, Session, SourceKind, Who
from graphmem.store import students as store
from graphmem.store.graph import Transaction
from graphmem.store.memories import Filter
from graphmem.store.nodes import NodeSealer
from graphmem.store.students import find_enrolled
from tests.conftest import BOTH_FORMS, PASSWORD, Enrol, Pupil, another_replica, say
from tests.support.client import Client, Refused
from tests.support.remembering import asked, held, nodes, observations
from tests.support.tampering import by_hand, noticed
from tests.support.whole_life import lives

SEALED_VALUES = """
    MATCH (n {institution: $i, student_id: $s}) WHERE NOT n:ManifestPage AND NOT n:ManifestNote AND NOT n:OpenSession
    RETURN labels(n) AS labels, properties(n) AS properties
    UNION ALL
    MATCH (:Student {institution: $i, id: $s})-[k:KNOWS]->() RETURN ['KNOWS'] AS labels, properties(k) AS properties"""
NOTED = "noted-meanwhile"
"""Ref of what is observed while a key is rotated."""
OF_SERVER = {"salt", "wrapped_key", "public_key", "public_key_seal", "manifest_root"}


async def sealed_values(gm: Graphmem, who: Who) -> set[bytes]:
    """All that is sealed of a student but by the server."""
    rows = await asked(gm, who, SEALED_VALUES)
    return {
        bytes(value)
        for row in rows
        for name, value in row["properties"].items()
        if isinstance(value, bytes | bytearray) and name not in OF_SERVER
    }


async def readable(gm: Graphmem, session: Session) -> dict[str, Any]:
    """Nodes and relationships of a student, opened; without what the end of a session takes with it."""
    document = await export_student(gm, session)
    # Turns and the relationships of a running session go with it; versions count what was done.
    nodes = [node for node in document["nodes"] if node["properties"].get("ref") != NOTED]
    kept = {n["number"]: n for n in nodes if n["labels"] not in (["Turn"], ["Student"], ["Job"])}
    edges = [
        (
            kept[e["from"]]["properties"].get("id"),
            kept[e["to"]]["properties"].get("id"),
            e["type"],
            str(e["properties"]),
        )
        for e in document["edges"]
        if e["from"] in kept and e["to"] in kept
    ]
    told = sorted(json.dumps([n["labels"], n["properties"]], sort_keys=True) for n in kept.values())
    return {"nodes": told, "edges": sorted(map(str, edges)), "overlay": document["overlay"]}


async def reopened(gm: Graphmem, who: Who) -> Session:
    _, session = await students.open_session(gm, who, PASSWORD)
    return session


@BOTH_FORMS
async def test_every_sealed_value_is_another_and_everything_is_read_as_before(gm: Graphmem, ann: Pupil) -> None:
    await lives(gm, ann, "marmalade")
    await run_jobs(gm, ann.session)
    before, values = await readable(gm, ann.session), await sealed_values(gm, ann.who)
    hidden = await nodes(gm, ann.who, "Memory")
    old = await find_enrolled(gm.graph, ann.who, gm.clock())
    resealed = await students.rotate_key(gm, ann.who, PASSWORD, session=ann.session)
    assert not values & await sealed_values(gm, ann.who)
    assert (resealed > 50) == (not ann.session.keys.clear)
    assert (await verify_integrity(gm, ann.who)).intact
    session = await reopened(another_replica(gm), ann.who)
    assert session.keys.seal != ann.session.keys.seal
    assert session.keys.mark == ann.session.keys.mark
    assert await readable(gm, session) == before
    assert await noticed(gm, ann.who) == set()
    new = await find_enrolled(gm.graph, ann.who, gm.clock())
    assert old is not None
    assert new is not None
    assert new.lock.public_key != old.lock.public_key
    # Nothing sealed opens with the key before, a copy of the wrapped one included.
    assert sealing.unlock(ann.who, old.lock, PASSWORD) == ann.session.keys
    if not session.keys.clear:
        for memory in await nodes(gm, ann.who, "Memory"):
            place = NodeSealer(ann.session.keys, ann.who, "Memory", memory["id"])
            with pytest.raises(Tampered):
                place.text("content", memory["content"])
    assert len(await nodes(gm, ann.who, "Memory")) == len(hidden)


def padded_lengths(longest: int) -> set[int]:
    """Lengths of sealed texts and sealed boxes."""
    buckets = {size for k in range(6, longest.bit_length() + 1) for size in (2**k, 2**k + 2 ** (k - 1))}
    return {size + more for size in buckets for more in (40, 48)}


async def text_lengths(gm: Graphmem, who: Who) -> list[int]:
    """Lengths of what is sealed of a student but embeddings and keys."""
    rows = [row["properties"] for row in await asked(gm, who, SEALED_VALUES)]
    keys = OF_SERVER | {"private_key", "recovery_copy", "sealed_private_key"}
    return [
        len(value)
        for properties in rows
        for name, value in properties.items()
        if isinstance(value, bytes | bytearray) and name not in keys and not name.endswith("embedding")
    ]


async def test_lengths_tell_little_and_what_was_sealed_before_that_opens_and_is_padded_by_a_rotation(
    gm: Graphmem, ann: Pupil, enrol: Enrol, monkeypatch: pytest.MonkeyPatch
) -> None:
    await lives(gm, ann, "marmalade")
    lengths = await text_lengths(gm, ann.who)
    assert len(lengths) > 50
    assert set(lengths) <= padded_lengths(max(lengths))
    with monkeypatch.context() as earlier:
        for module in ("graphmem.sealing", "graphmem.store.nodes"):
            earlier.setattr(f"{module}.padded", lambda text, fill=b"": text)
        bob = await enrol("bob")
        await lives(gm, bob, "marmalade")
        assert len(set(await text_lengths(gm, bob.who)) - padded_lengths(100_000)) > 10
        before = await readable(gm, bob.session)
    assert await readable(another_replica(gm), bob.session) == before
    await students.rotate_key(gm, bob.who, PASSWORD, session=bob.session)
    assert set(await text_lengths(gm, bob.who)) <= padded_lengths(100_000)
    assert (await readable(another_replica(gm), await reopened(gm, bob.who)))["overlay"] == before["overlay"]
    assert await noticed(gm, bob.who) == set()


async def test_what_is_said_and_observed_afterwards_is_known(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "My sister Ottilie hides marmalade in Lisbon.")
    await run_jobs(gm, ann.session)
    # One observation waits for a session, sealed with the public key before.
    await observe(gm, ann.who, observations(["Ann swam a mile in the lake."], kind=SourceKind.TEACHER))
    await students.rotate_key(gm, ann.who, PASSWORD, session=ann.session)
    (later,) = observations(["Ann wrote a poem about herons."], kind=SourceKind.TEACHER)
    await observe(gm, ann.who, [replace(later, ref="later")])
    session = await reopened(gm, ann.who)
    await run_jobs(gm, session)
    told = " ".join(str(memory.content) for memory in await held(gm, session))
    assert all(word in told for word in ("Ottilie", "mile", "herons"))
    assert await noticed(gm, ann.who) == set()
    assert [job["state"] for job in await nodes(gm, ann.who, "Job") if job["state"] != "done"] == []


async def test_other_sessions_are_in_the_way_or_end(gm: Graphmem, ann: Pupil) -> None:
    other = await reopened(gm, ann.who)
    values = await sealed_values(gm, ann.who)
    with pytest.raises(Conflict, match="Other sessions"):
        await students.rotate_key(gm, ann.who, PASSWORD, session=ann.session)
    assert await sealed_values(gm, ann.who) == values
    assert (await say(gm, ann, "I like trains.")).reply
    await students.rotate_key(gm, ann.who, PASSWORD, session=ann.session, end_sessions=True)
    for ended in (ann.session, other):
        with pytest.raises(Locked):
            await export_student(gm, ended)
    with pytest.raises(Locked):
        await say(another_replica(gm), ann, "I like boats.")


async def test_a_wrong_password_changes_nothing(gm: Graphmem, ann: Pupil) -> None:
    values = await sealed_values(gm, ann.who)
    with pytest.raises(Locked):
        await students.rotate_key(gm, ann.who, "not the password", session=ann.session)
    assert await sealed_values(gm, ann.who) == values
    assert (await say(gm, ann, "I like trains.")).reply


@pytest.mark.parametrize("step", ["rotation/begin", "rotation/save_nodes", "rotation/finish"])
async def test_what_is_cut_short_has_changed_nothing(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    await lives(gm, ann, "marmalade")
    await run_jobs(gm, ann.session)
    before, values = await readable(gm, ann.session), await sealed_values(gm, ann.who)
    run = Transaction.run

    async def dying(tx: Transaction, name: str, **params: Any) -> Any:
        rows = await run(tx, name, **params)
        if name == step:
            raise KeyboardInterrupt
        return rows

    with monkeypatch.context() as patched:
        patched.setattr(Transaction, "run", dying)
        with pytest.raises(KeyboardInterrupt):
            await students.rotate_key(gm, ann.who, PASSWORD, session=ann.session)
    assert await sealed_values(gm, ann.who) == values
    assert await readable(another_replica(gm), await reopened(gm, ann.who)) == before
    # What is observed meanwhile is sealed anew, too.
    (noted,) = observations(["Ann keeps nine herons."], kind=SourceKind.TEACHER)
    await observe(gm, ann.who, [replace(noted, ref=NOTED)])
    await students.rotate_key(gm, ann.who, PASSWORD, end_sessions=True)
    session = await reopened(another_replica(gm), ann.who)
    assert await readable(gm, session) == before
    assert not values & await sealed_values(gm, ann.who)
    await run_jobs(gm, session)
    assert any("herons" in str(memory.content) for memory in await held(gm, session))
    assert (await verify_integrity(gm, ann.who)).intact
    assert await noticed(gm, ann.who) == set()


async def test_no_session_opens_with_a_key_that_was_replaced_meanwhile(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = another_replica(gm)
    saved = store.save_session

    async def late(*args: Any) -> bool:
        monkeypatch.setattr(store, "save_session", saved)
        await students.rotate_key(gm, ann.who, PASSWORD, end_sessions=True)
        return await saved(*args)

    monkeypatch.setattr(store, "save_session", late)
    with pytest.raises(Locked):
        await students.open_session(other, ann.who, PASSWORD)
    _, session = await students.open_session(other, ann.who, PASSWORD)
    assert await held(other, session) == []
    assert await noticed(gm, ann.who) == set()


async def test_two_at_once_make_one_key(gm: Graphmem, ann: Pupil) -> None:
    await lives(gm, ann, "marmalade")
    await run_jobs(gm, ann.session)
    before = await readable(gm, ann.session)
    both = [students.rotate_key(each, ann.who, PASSWORD, end_sessions=True) for each in (gm, another_replica(gm))]
    done = await asyncio.gather(*both, return_exceptions=True)
    assert all(isinstance(each, int | Conflict) for each in done), done
    assert any(isinstance(each, int) for each in done)
    assert await readable(gm, await reopened(gm, ann.who)) == before
    assert (await verify_integrity(gm, ann.who)).intact


async def test_a_lock_that_is_replaced_while_a_password_is_checked_is_no_tampering(
    gm: Graphmem, ann: Pupil, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = another_replica(gm)
    computed, late = other.passwords.computed, [True]

    async def slowly(*args: Any) -> Any:
        keys = await computed(*args)
        if late and late.pop():
            await students.rotate_key(gm, ann.who, PASSWORD, end_sessions=True)
        return keys

    monkeypatch.setattr(other.passwords, "computed", slowly)
    with pytest.raises(Conflict, match="try again"):
        await students.open_session(other, ann.who, PASSWORD)
    assert await noticed(gm, ann.who) == set()
    assert (await verify_integrity(gm, ann.who)).intact
    await students.open_session(other, ann.who, PASSWORD)


async def test_what_was_altered_by_hand_stays_named(gm: Graphmem, ann: Pupil) -> None:
    for i, text in enumerate(("My horse Bella won a prize on Sunday.", "I live in Bergen with two cats.")):
        await say(gm, ann, text, f"t{i}")
    await run_jobs(gm, ann.session)
    await keep_up(gm, ann.who)
    first, second, *_ = await held(gm, ann.session)
    alter = "MATCH (m:Memory {institution: $i, id: $id}) SET m += $properties"
    await by_hand(gm, ann.who, alter, id=first.id, properties={"content": b"x" * 60})
    await by_hand(gm, ann.who, alter, id=second.id, properties={"gravity": 0.123})
    await students.rotate_key(gm, ann.who, PASSWORD, session=ann.session)
    found = await verify_integrity(gm, ann.who)
    assert {f"{first.id}.content", f"{second.id}.gravity"} <= {each.split(":")[-1] for each in found.fields}
    assert len(found.fields) == 2
    assert await noticed(gm, ann.who) == {("Memory", first.id, "content")}
    page = await list_memories(gm, ann.who, Filter(), 100, None, await reopened(gm, ann.who))
    assert {memory.id for memory in page.items} & {first.id, second.id} == {second.id}


async def test_after_a_new_server_secret_and_a_new_password_a_rotated_key_opens(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "My sister Ottilie hides marmalade in Lisbon.")
    await run_jobs(gm, ann.session)
    other = another_replica(gm, secret=b"n" * 32, secret_before=gm.secret)
    other.graph.secrets = (other.secret, gm.secret)
    try:
        await students.rotate_key(other, ann.who, PASSWORD, end_sessions=True)
        await students.change_password(other, ann.who, PASSWORD, "another password")
        await students.rotate_key(other, ann.who, "another password", end_sessions=True)
        _, session = await students.open_session(other, ann.who, "another password")
        assert any("Ottilie" in str(memory.content) for memory in await held(other, session))
        with pytest.raises(Locked):
            await reopened(other, ann.who)
    finally:
        await erase_student(other, ann.who)
        other.graph.secrets = (gm.secret,)


async def test_over_graphql(
    gm: Graphmem, ann: Pupil, http: httpx.AsyncClient, bearer: Callable[[Role], str], app_client: Client
) -> None:
    await say(gm, ann, "My sister Ottilie keeps nine otters.")
    ask = 'mutation($p: String!) { rotateKey(studentId: "ann", password: $p) }'
    for role in (Role.TEACHER, Role.AUDITOR, Role.ANALYST, Role.ADMIN):
        with pytest.raises(Refused) as refused:
            await Client(http, bearer(role)).call(ask, p=PASSWORD)
        assert refused.value.code == "FORBIDDEN"
    with pytest.raises(Refused) as refused:
        await app_client.call(ask, p="not the password")
    assert refused.value.code == "LOCKED"
    assert await app_client.call(ask, p=PASSWORD) > 5
    with pytest.raises(Refused) as refused:
        await app_client.call('{ student(id: "ann") { context(query: "otters") { prompt } } }')
    assert refused.value.code == "LOCKED"
