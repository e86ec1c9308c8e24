"""Backups under load, restored into an empty Neo4j: what was acknowledged before is there, each student is whole."""

import asyncio
import gzip
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from graphmem.app import Graphmem, open_with_neo4j
from graphmem.commands.backup import Counts, backup, restore
from graphmem.errors import Conflict, InvalidInput, Locked, SetupError
from graphmem.flows import students
from graphmem.flows.context import recall
from graphmem.flows.students import accept_integrity, verify_integrity
from graphmem.flows.transfer import export_student
from graphmem.jobs.runner import run_jobs
from graphmem.local.server import LocalNeo4j
from graphmem.model import Who
from graphmem.sealing import new_secret
from graphmem.settings import Settings
from graphmem.store import queries
from tests.conftest import PASSWORD, Pupil, say
from tests.support.remembering import asked
from tests.support.student_graph import comparable
from tests.support.whole_life import lives

LEFT_OUT = {"OpenSession", "PasswordTry", "Reservation", "Erasure"}
"""Kinds of nodes of a student that end with the server."""


def at(settings: Settings, found: LocalNeo4j) -> Settings:
    changed = {"neo4j_uri": found.bolt_uri, "neo4j_user": found.user, "neo4j_password": found.password}
    return Settings.model_validate(settings.model_dump() | changed)


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Graphmem]:
    assert settings.neo4j_uri
    assert settings.neo4j_password
    password = settings.neo4j_password.get_secret_value()
    async with open_with_neo4j(settings, settings.neo4j_uri, settings.neo4j_user, password) as gm:
        yield gm


async def emptied(settings: Settings) -> None:
    async with opened(settings) as gm:
        await gm.graph.execute("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS", {}, reads=False)


def test_every_kind_of_node_of_a_student_is_backed_up() -> None:
    own = queries.read("schema")
    labels = set(re.findall(r"FOR \(n:(\w+)\) REQUIRE \(n.institution, n.student_id", own)) - LEFT_OUT
    assert len(labels) > 12
    assert labels <= set(re.findall(r":(\w+) \{institution", queries.load_folder("backup")["backup/list_nodes"].text))


async def enrolled(gm: Graphmem, name: str, institution: str = "school") -> Pupil:
    who = Who(institution, name)
    await students.enrol(gm, who, PASSWORD, f"Name of {name}")
    token, session = await students.open_session(gm, who, PASSWORD)
    return Pupil(who, PASSWORD, session, token)


@pytest.fixture
async def spare(settings: Settings, spare_neo4j: LocalNeo4j) -> Settings:
    """Settings of an empty Neo4j."""
    found = at(settings, spare_neo4j)
    await emptied(found)
    return found


async def test_turns_acknowledged_before_a_backup_under_load_are_there_after_it_is_restored(
    spare: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "backup"
    async with opened(spare) as gm:
        quiet = await enrolled(gm, "quiet")
        await lives(gm, quiet, "marmalade")
        whole = comparable(await export_student(gm, quiet.session))
        talking = [await enrolled(gm, name) for name in ("ann", "bob", "eve")]
        before, during, report = await backed_up_under_load(gm, spare, talking, file)
    assert during > 0
    assert file.stat().st_mode & 0o077 == 0
    missing = 0
    await emptied(spare)
    assert await restore(spare, file, print) == report
    async with opened(spare) as gm:
        for pupil in talking:
            query = "MATCH (s:Source {institution: $i, student_id: $s, kind: 'chat'}) RETURN s.ref AS ref"
            kept = {row["ref"] for row in await asked(gm, pupil.who, query)}
            missing += len(set(before[pupil.who.student_id]) - kept)
            await check_whole(gm, pupil)
            _, session = await students.open_session(gm, pupil.who, pupil.password)
            await run_jobs(gm, session)
            found = await recall(gm, session, "How many jars of marmalade has Ottilie?", 5, None)
            assert "marmalade" in str([each.memory.content for each in found])
        assert (await verify_integrity(gm, quiet.who)).intact
        _, session = await students.open_session(gm, quiet.who, quiet.password)
        nodes, _, rest = comparable(await export_student(gm, session))
    with pytest.raises(Conflict, match="not empty"):
        await restore(spare, file, print)
    await check_another_secret(spare, quiet)
    print(f"acknowledged before {sum(map(len, before.values()))}, during {during}, missing {missing}")
    assert missing == 0
    # The raw turns end with their session, as they do when it runs out.
    for left_out in ("Turn", "Student"):
        whole = ({name: node for name, node in whole[0].items() if name[0] != left_out}, whole[1], whole[2])
        nodes = {name: node for name, node in nodes.items() if name[0] != left_out}
    assert nodes == whole[0]
    assert rest == whole[2]


async def check_another_secret(settings: Settings, pupil: Pupil) -> None:
    """With another server secret what was restored must be accepted first."""
    other = Settings.model_validate(settings.model_dump() | {"secret": new_secret()})
    async with opened(other) as gm:
        assert not (await verify_integrity(gm, pupil.who)).intact
        with pytest.raises(Locked, match="accept"):
            await students.open_session(gm, pupil.who, pupil.password)
        assert (await accept_integrity(gm, pupil.who)).intact
        await students.open_session(gm, pupil.who, pupil.password)
        assert (await verify_integrity(gm, pupil.who)).intact


async def backed_up_under_load(
    gm: Graphmem, here: Settings, talking: list[Pupil], file: Path
) -> tuple[dict[str, list[str]], int, Counts]:
    """Back up while students talk: the turns acknowledged before, how many were meanwhile, and the report."""
    acknowledged: dict[str, list[str]] = {pupil.who.student_id: [] for pupil in talking}
    stop, enough = asyncio.Event(), asyncio.Event()

    async def talk(pupil: Pupil) -> None:
        while not stop.is_set():
            turn_id = f"turn-{len(acknowledged[pupil.who.student_id])}"
            await say(gm, pupil, f"My sister Ottilie has {turn_id} jars of marmalade in Lisbon.", turn_id)
            acknowledged[pupil.who.student_id].append(turn_id)
            if min(map(len, acknowledged.values())) >= 5:
                enough.set()

    tasks = [asyncio.create_task(talk(pupil)) for pupil in talking]
    await asyncio.wait_for(enough.wait(), 240)
    before = {name: list(turns) for name, turns in acknowledged.items()}
    report = await backup(here, file, print)
    during = sum(map(len, acknowledged.values())) - sum(map(len, before.values()))
    stop.set()
    await asyncio.gather(*tasks)
    return before, during, report


async def check_whole(gm: Graphmem, pupil: Pupil) -> None:
    """The graph of a student is of one moment: counters, turns, sources and jobs fit together."""
    query = """MATCH (s:Student {institution: $i, id: $s})
               MATCH (c:Companion {institution: $i, student_id: $s})-[:ACCOMPANIES]->(s)
               RETURN s.turns AS turns,
                      COUNT { (:Source {institution: $i, student_id: $s, kind: 'chat'}) } AS sources,
                      COLLECT { MATCH (s)-[:SAID]->(t:Turn) WHERE t.state = 'answered' RETURN t.seq } AS seqs,
                      COUNT { MATCH (t:Turn {institution: $i, student_id: $s}) WHERE t.state = 'answered'
                              AND NOT (t)-[:FORMED_FROM]->(:Source) } AS rootless,
                      COUNT { MATCH (m:Memory {institution: $i, student_id: $s})
                              WHERE NOT (m)-[:FORMED_FROM]->(:Source) } AS sourceless,
                      COUNT { MATCH (j:Job {institution: $i, student_id: $s}) WHERE j.kind = 'form' } AS jobs"""
    (row,) = await asked(gm, pupil.who, query)
    assert row["turns"] == row["sources"] == max(row["seqs"]) == row["jobs"]
    assert (row["rootless"], row["sourceless"]) == (0, 0)


async def test_a_file_that_is_not_whole_restores_nothing_and_what_was_cut_short_is_begun_again(
    spare: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "backup"
    async with opened(spare) as gm:
        sealed, clear = [await enrolled(gm, "ann", institution) for institution in ("school", "clear-school")]
        for pupil in (sealed, clear):
            await say(gm, pupil, "My sister Ottilie hides marmalade in Lisbon.")
        report = await backup(spare, file, print)
        assert report["students"] == 2
    await emptied(spare)
    await refused_and_restored(spare, file, report, tmp_path, monkeypatch)
    async with opened(spare) as gm:
        for pupil in (sealed, clear):
            _, session = await students.open_session(gm, pupil.who, pupil.password)
            await run_jobs(gm, session)
            found_again = await recall(gm, session, "marmalade", 5, None)
            assert "marmalade" in str([each.memory.content for each in found_again])


def lines_of(file: Path) -> list[bytes]:
    return gzip.decompress(file.read_bytes()).splitlines()


def written(file: Path, content: bytes) -> Path:
    file.write_bytes(content)
    return file


async def refused_and_restored(
    there: Settings, file: Path, report: Counts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidInput, match="there already"):
        await backup(there, file, print)
    lines = lines_of(file)
    place = next(i for i, line in enumerate(lines) if b'"Turn"' in line)
    altered = [*lines[:place], lines[place].replace(b"answered", b"received"), *lines[place + 1 :]]
    for name, wrong in {"short": lines[:-1], "altered": altered, "empty": []}.items():
        with pytest.raises(InvalidInput, match="cut short"):
            await restore(there, written(tmp_path / name, gzip.compress(b"\n".join(wrong))), print)
    with pytest.raises(InvalidInput, match="no backup"):
        await restore(there, written(tmp_path / "text", b"{}"), print)

    async def dying(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("graphmem.store.backups.finish_restore", dying)
        with pytest.raises(KeyboardInterrupt):
            await restore(there, file, print)
    with pytest.raises(SetupError, match="restore"):
        async with opened(there):
            pass
    assert await restore(there, file, print) == report
