"""A database that an older graphmem wrote, opened by this one: it is upgraded, and everything reads."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from graphmem.app import Graphmem
from graphmem.commands.backup import restore
from graphmem.errors import Locked
from graphmem.flows import students
from graphmem.flows.context import context, recall
from graphmem.flows.facts import list_facts
from graphmem.flows.forgetting import forget_memory
from graphmem.flows.ledger import list_entries
from graphmem.flows.transfer import export_student
from graphmem.jobs.runner import run_jobs
from graphmem.local.server import LocalNeo4j
from graphmem.model import MemoryRole, Who
from graphmem.settings import Settings
from graphmem.store import schema
from graphmem.store.jobs import NO_SUCH_KIND
from tests.conftest import Pupil, say
from tests.graph.test_backup import at, emptied, opened
from tests.support.remembering import asked

OLD = Path(__file__).parents[1] / "data" / "upgrade" / "schema_1.backup"
ANN, PASSWORD = Who("old-school", "ann"), "a password of long ago"


@pytest.fixture(scope="module")
async def old(settings: Settings, spare_neo4j: LocalNeo4j) -> AsyncIterator[Graphmem]:
    """The old database, opened by today's graphmem."""
    there = at(settings, spare_neo4j)
    await emptied(there)
    await restore(there, OLD, print)
    async with opened(there) as gm:
        yield gm


async def test_the_schema_is_upgraded(old: Graphmem) -> None:
    (row,) = await asked(old, ANN, "MATCH (s:Schema) RETURN s.version AS version, s.restoring AS restoring")
    assert (row["version"], row["restoring"]) == (schema.SCHEMA_VERSION, None)
    assert await count(old, "MATCH (n:Memory) WHERE n.role IS NULL OR n.episode IS NOT NULL") == 0
    assert await count(old, "MATCH (n:Fact) WHERE n.origin = 'surprise'") > 0


async def count(gm: Graphmem, match: str) -> int:
    return int((await asked(gm, ANN, f"{match} RETURN count(n) AS n"))[0]["n"])


async def test_the_student_opens_with_the_password_and_everything_reads(old: Graphmem) -> None:
    with pytest.raises(Locked):
        await students.open_session(old, ANN, "another password")
    _, session = await students.open_session(old, ANN, PASSWORD)
    student = await students.find_student(old, ANN, session)
    assert student is not None
    assert student.display_name == "Annie"
    # What waited is formed: a message, and a remark that was sealed for a locked student. A surprise's response is no
    # job any more: one that waited is kept and marked.
    await run_jobs(old, session)
    left = await asked(
        old,
        ANN,
        "MATCH (n:Job {institution: $i, student_id: $s}) WHERE n.state <> 'done' RETURN n.kind, n.state, n.error",
    )
    assert [(job["n.kind"], job["n.state"], job["n.error"]) for job in left] == [("surprise", "dead", NO_SUCH_KIND)]
    for question, word in {
        "Where is the marmalade hidden?": "marmalade",
        "What does Ann love to draw?": "comics",
        "Who sleeps on the piano?": "Mitzi",
        "What did Ann explain to Ben?": "Ben",
        "Which lesson was about fractions?": "denominators",
    }.items():
        found = await recall(old, session, question, 10, None)
        assert word in str([each.memory.words for each in found]), question
    entries = {entry.category.value: entry.content for entry in await list_entries(old, session)}
    assert entries.keys() >= {"promise", "secret", "debt", "fact"}
    assert "peanuts" in str(entries)
    facts = await list_facts(old, session, 200)
    assert len(facts) >= 10
    assert all(fact.text and fact.tags for fact in facts)
    assert "marmalade" in (await context(old, session, "And the marmalade for Ottilie?")).prompt
    document = await export_student(old, session)
    assert {label for node in document["nodes"] for label in node["labels"]} >= {"Memory", "Fact", "Entity", "Source"}


async def test_the_old_student_goes_on_learning_and_forgetting(old: Graphmem) -> None:
    token, session = await students.open_session(old, ANN, PASSWORD)
    pupil = Pupil(ANN, PASSWORD, session, token)
    before = len(await list_entries(old, session))
    await say(old, pupil, "I promise I will bring the marmalade to Ottilie tomorrow.", "new-1", at=datetime.now(UTC))
    await run_jobs(old, session)
    # Said before, by the same keyed hash: nothing is doubled.
    assert len(await list_entries(old, session)) == before
    found = await recall(old, session, "Who sleeps on the piano?", 10, None)
    cat = next(each.memory for each in found if "Mitzi" in each.memory.words and each.memory.role is MemoryRole.SAID)
    await forget_memory(old, session, cat.id)
    left = await recall(old, session, "Who sleeps on the piano?", 10, None)
    assert "Mitzi" not in str([each.memory.words for each in left])
