"""What lies in the database and in the logs: no word of what anybody said."""

import logging
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graphmem.app import Graphmem, open_with_neo4j
from graphmem.errors import GraphmemError, Locked
from graphmem.flows import students
from graphmem.flows.consolidation import decay
from graphmem.flows.context import context, recall
from graphmem.flows.facts import list_facts
from graphmem.flows.ledger import Draft, add_entry, settle_entry
from graphmem.flows.observation import observe
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.local import server
from graphmem.model import LedgerCategory, Observation, SourceKind, Who
from graphmem.samples import sample_dialogues
from graphmem.settings import Settings
from graphmem.store import queries
from tests.conftest import PASSWORD, Enrol, Pupil, another_replica, say
from tests.support.own_neo4j import Access
from tests.support.tampering import noticed

DUMP = """MATCH (n) WHERE n.institution = $i OPTIONAL MATCH (n)-[r]-()
          RETURN properties(n) AS n, collect(properties(r)) AS r"""


def values(of: Any) -> Iterator[bytes]:
    """Every value in a dump, as bytes."""
    if isinstance(of, dict):
        for key, value in of.items():
            yield str(key).encode()
            yield from values(value)
    elif isinstance(of, list):
        for value in of:
            yield from values(value)
    elif isinstance(of, bytes | bytearray):
        yield bytes(of)
    elif of is not None:
        yield str(of).encode()


async def dump(gm: Graphmem, institution: str) -> bytes:
    rows = await gm.graph.execute(DUMP, {"i": institution}, reads=True)
    return b"\n".join(values(rows)).lower()


def words(*texts: str) -> set[str]:
    """Words of at least five letters, which chance does not put into sealed bytes."""
    return {w for text in texts for w in re.findall(r"[a-z]{5,}", text.lower())}


# Our own statements, which are the same for everybody and which the driver logs at DEBUG.
OURS = words(*(query.text for query in queries.load().values()))


async def test_no_word_lies_in_the_database_or_the_logs(
    gm: Graphmem, ann: Pupil, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    for turn in range(2):
        await say(gm, ann, "Hm" * (turn + 1))
    everyday, said = words(caplog.text), []
    caplog.clear()
    for dialogue in sample_dialogues()[:5]:
        for message in dialogue.messages[:12]:
            outcome = await say(gm, ann, message.text)
            fact = outcome.fact.text if outcome.fact else ""
            said += [message.text, outcome.reply, fact, outcome.prediction, " ".join(outcome.needed_info)]
    with pytest.raises(GraphmemError):
        await say(gm, ann, "An overlong confession about marmalade. " * 2000)
    spoken = words(*said, "Name of ann", PASSWORD, "overlong confession marmalade")
    secret = {w for w in spoken if not any(w in ours for ours in OURS | everyday)}
    assert len(secret) > 60

    stored = await dump(gm, ann.who.institution)
    assert len(stored) > 20_000
    assert {w for w in secret if w.encode() in stored} == set()
    printed = (caplog.text + "".join(capfd.readouterr())).lower()
    told = {w: line for line in printed.splitlines() for w in secret if re.search(rf"\b{w}\b", line)}
    assert told == {}
    for key in (ann.session.keys.seal, ann.session.keys.mark):
        assert key not in stored
        assert key.hex().encode() not in stored


async def test_no_word_of_a_memory_or_the_ledger_lies_in_the_database_or_the_logs(
    gm: Graphmem, ann: Pupil, enrol: Enrol, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    bob = await enrol("bob")
    for text in ("Hm", "Hmhm"):
        await say(gm, ann, text)
        await recall(gm, ann.session, text, 5, None)
    await run_jobs(gm, ann.session)
    everyday = words(caplog.text)
    caplog.clear()
    said = [
        "My sister Bartholomea hides nine marzipan trombones in the lighthouse of Kirkwall.",
        "I promise I will return the harmonica to Zebediah before Michaelmas.",
        "Nobody knows that my parents are getting divorced, please keep it secret.",
    ]
    outcomes = [await say(gm, ann, text, f"t{i}") for i, text in enumerate(said)]
    observed = ["Quicksilver bubbled over in the laboratory on Wednesday.", "She juggled rhubarb splendidly."]
    speaker = "Wilhelmina Featherstonehaugh"
    await observe(
        gm,
        ann.who,
        [Observation(SourceKind.LESSON, f"o{i}", text, gm.clock(), speaker) for i, text in enumerate(observed)],
    )
    assert await run_jobs(gm, ann.session) == sum(len(outcome.jobs) for outcome in outcomes) + len(observed)
    kept = await add_entry(
        gm, ann.session, Draft(LedgerCategory.DEBT, "Owes Gwendolyn elderberries.", triggers=("jam",))
    )
    await settle_entry(gm, ann.session, kept.id, "Pumpernickel instead.")
    asked = "Where are the marzipan trombones of Bartholomea, and who whistled in Zanzibar?"
    assert await recall(gm, ann.session, asked, 20, None)
    assert (await context(gm, ann.session, asked, 2000, None)).prompt
    await say(gm, ann, asked)
    await decay(gm, ann.who)
    stolen = replace(bob.session, student_id="ann")
    for refused in (recall(gm, stolen, asked, 5, None), recall(another_replica(gm), stolen, asked, 5, None)):
        with pytest.raises(GraphmemError):
            await refused
    await close_session(gm, ann.session, wait=True)
    with pytest.raises(Locked):
        await context(gm, ann.session, asked, 500, None)

    spoken = words(*said, *observed, speaker, asked, "Gwendolyn elderberries Pumpernickel")
    secret = {w for w in spoken if not any(w in ours for ours in OURS | everyday)}
    assert {"bartholomea", "harmonica", "featherstonehaugh", "elderberries", "zanzibar", "divorced"} <= secret
    stored = await dump(gm, ann.who.institution)
    assert b"entity-" in stored
    assert b"ledger-" in stored
    assert {w for w in secret if w.encode() in stored} == set()
    printed = (caplog.text + "".join(capfd.readouterr())).lower()
    assert {w: line for line in printed.splitlines() for w in secret if re.search(rf"\b{w}\b", line)} == {}


async def test_a_memory_put_in_anothers_place_is_noticed(gm: Graphmem, ann: Pupil) -> None:
    for text in ("My horse Bella won a prize on Sunday.", "Volcanoes erupt because hot magma rises."):
        await say(gm, ann, text)
    await run_jobs(gm, ann.session)
    swap = """MATCH (a:Memory {institution: $i}), (b:Memory {institution: $i}) WHERE a.id < b.id
              WITH a, b, a.content AS x, b.content AS y SET a.content = y, b.content = x"""
    await gm.graph.execute(swap, {"i": ann.who.institution}, reads=False)
    assert await recall(another_replica(gm), ann.session, "Bella", 5, None) == []
    assert {(label, field) for label, _, field in await noticed(gm, ann.who)} == {("Memory", "content")}


@pytest.fixture
def local_neo4j(neo4j_access: Access) -> Iterator[Access]:
    """The run's own Neo4j where its files can be read, else a throwaway one."""
    if neo4j_access.home is not None:
        yield neo4j_access
        return
    with server.throwaway(Settings()) as found:
        yield Access(found.bolt_uri, found.user, found.password, str(found.home))


def written(on: Access) -> dict[Path, bytes]:
    """All that a local Neo4j has written, in small letters."""
    paths = [path for path in Path(on.home or "").rglob("*") if path.is_file()]
    return {path: path.read_bytes().lower() for path in paths if path.suffix != ".jar"}


async def test_the_files_of_the_local_server_hold_no_word(
    local_neo4j: Access, institution: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Everything the server writes, transaction logs included, searched as bytes."""
    settings = Settings(home=tmp_path_factory.mktemp("home"), argon2_ops=1, argon2_mib=8)
    async with open_with_neo4j(settings, local_neo4j.uri, local_neo4j.user, local_neo4j.password) as gm:
        who = Who(institution, "ann")
        await students.enrol(gm, who, PASSWORD, "Annabella Quartermaine")
        _, session = await students.open_session(gm, who, PASSWORD)
        pupil = Pupil(who, PASSWORD, session, "")
        said = ["My hamster Bartholomew swallowed a trombone.", "The lighthouse keeper juggles marzipan daily."]
        outcomes = [await say(gm, pupil, text) for text in said]
        assert await run_jobs(gm, session) == sum(len(outcome.jobs) for outcome in outcomes)
    secret = words(*said, "Annabella Quartermaine") - {"keeper", "daily", "swallowed"}
    files = written(local_neo4j)
    assert len(files) > 20
    assert any(institution.encode() in content for content in files.values())
    for path, content in files.items():
        assert [w for w in secret if w.encode() in content] == [], path


async def test_a_value_put_in_anothers_place_is_noticed(gm: Graphmem, ann: Pupil) -> None:
    for i, text in enumerate(["Nine otters sing.", "A purple submarine!", "Is it Tuesday, or the moon?"]):
        await say(gm, ann, text, f"t{i}")
    swap = """MATCH (a:Turn {institution: $i, id: 't0'}), (b:Turn {institution: $i, id: 't1'})
              WITH a, b, a.text AS x, b.text AS y SET a.text = y, b.text = x"""
    await gm.graph.execute(swap, {"i": ann.who.institution}, reads=False)
    await say(another_replica(gm), ann, "Hello again.")
    assert await noticed(gm, ann.who) == {("Turn", "t0", "text"), ("Turn", "t1", "text")}


async def test_a_prediction_of_an_earlier_turn_put_back_is_noticed(gm: Graphmem, ann: Pupil) -> None:
    find = "MATCH (c:Companion {institution: $i}) RETURN c.prediction AS p"
    await say(gm, ann, "Nine otters sing.")
    (old,) = await gm.graph.execute(find, {"i": ann.who.institution}, reads=True)
    await say(gm, ann, "A purple submarine!")
    put_back = "MATCH (c:Companion {institution: $i}) SET c.prediction = $p"
    await gm.graph.execute(put_back, {"i": ann.who.institution, "p": old["p"]}, reads=False)
    assert (await say(another_replica(gm), ann, "Hello again.")).match is None
    assert await noticed(gm, ann.who) == {("Companion", "companion@2", "prediction")}


async def test_a_fact_cut_short_is_noticed(gm: Graphmem, ann: Pupil) -> None:
    for text in ("Nine otters sing.", "I love purple submarines!", "Is it Tuesday, or the moon?"):
        await say(gm, ann, text, reply="How many spoons did Julia buy in total?")
    await run_jobs(gm, ann.session)
    cut = "MATCH (f:Fact {institution: $i}) SET f.text = $cut"
    await gm.graph.execute(cut, {"i": ann.who.institution, "cut": b"\x00" * 20}, reads=False)
    assert await list_facts(gm, ann.session, 10) == []
    assert {(label, field) for label, _, field in await noticed(gm, ann.who)} == {("Fact", "text")}


async def test_keys_of_one_student_put_on_another_open_nothing(gm: Graphmem, ann: Pupil) -> None:
    bob = replace(ann.who, student_id="bob")
    await students.enrol(gm, bob, "the password of Bob")
    copy = """MATCH (a:Student {institution: $i, id: 'ann'}), (b:Student {institution: $i, id: 'bob'})
              SET b.salt = a.salt, b.wrapped_key = a.wrapped_key"""
    await gm.graph.execute(copy, {"i": ann.who.institution}, reads=False)
    with pytest.raises(Locked):
        await students.open_session(gm, bob, PASSWORD)
