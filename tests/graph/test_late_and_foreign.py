"""What arrives late, what is put right, and what others say, on the real Neo4j (spec 7, 8, 12)."""

from datetime import timedelta

import pytest

from graphmem.app import Graphmem
from graphmem.flows.context import context
from graphmem.flows.facts import list_facts
from graphmem.flows.ledger import list_entries
from graphmem.flows.observation import observe
from graphmem.flows.session_cache import open_memories
from graphmem.flows.uncertainty import correct_memory
from graphmem.jobs.runner import run_jobs
from graphmem.model import LedgerCategory, MemoryRole, Observation, SourceKind
from tests.conftest import Enrol, Pupil
from tests.support.remembering import held, told

NEWEST_FIRST = [
    ("We moved to Leeds last month.", "I live in Hamburg with my mum.", "Hamburg"),
    ("My favourite colour is orange now.", "My favourite colour is green.", "green"),
    ("I'm in grade 8 since September.", "I'm in grade 7.", "grade 7"),
    ("I quit the orchestra, it was too much with school.", "I play the cello in the youth orchestra.", "cello"),
    ("I'm not allergic to milk, it's only eggs.", "I'm allergic to milk so I can't have the cake.", "cake"),
    ("We've got a new maths teacher, Ms Brandt.", "My maths teacher is Mr Okafor.", "Okafor"),
    ("I changed schools, I'm at St Anne's now.", "I go to Park Lane School.", "Park Lane"),
    ("I sold the Honda.", "I drive a Honda.", "drive"),
    ("I don't hate decimals anymore, they are ok.", "I hate decimals.", "I hate decimals."),
    ("My favourite food is sushi now, not pizza any more.", "My favourite food is pizza.", "food is pizza"),
]


@pytest.mark.parametrize(("newer", "older", "stale"), NEWEST_FIRST)
async def test_an_older_fact_that_arrives_late_is_past_at_once(
    gm: Graphmem, ann: Pupil, newer: str, older: str, stale: str
) -> None:
    now = gm.clock()
    await told(gm, ann, newer, at=now - timedelta(days=1))
    await told(gm, ann, older, at=now - timedelta(days=40))
    index = (await open_memories(gm, ann.session)).index
    late = [m for m in index.latest(20) if stale in m.words and m.role is not MemoryRole.LESSON]
    assert late
    assert all(m.invalid_at is not None for m in late), late
    assert any(newer.startswith(m.words[:10]) for m in index.latest(20) if m.invalid_at is None)
    assert not [e for e in await list_entries(gm, ann.session, active=True) if stale in (e.content or "")]
    assert not [f for f in await list_facts(gm, ann.session, 20) if stale in f.text]


async def test_a_correction_replaces_what_is_current_of_its_slot(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, "My favourite colour is green.", at=gm.clock() - timedelta(days=9))
    (green,) = [m for m in await held(gm, ann.session) if "green" in m.words]
    await told(gm, ann, "My favourite colour is orange now.")
    await correct_memory(gm, ann.session, green.id, "My favourite colour is teal.")
    standing = [m.words for m in await held(gm, ann.session) if m.invalid_at is None]
    assert standing == ["My favourite colour is teal."]


async def test_what_another_speaker_says_stays_that_speakers(gm: Graphmem, ann: Pupil) -> None:
    said = "I'm allergic to nuts and I promise to bring cake on Friday."
    await observe(gm, ann.who, [Observation(SourceKind.CHAT, "o1", said, gm.clock(), "Bob")])
    await run_jobs(gm, ann.session)
    entries = await list_entries(gm, ann.session)
    assert entries
    assert all(entry.category is not LedgerCategory.FACT for entry in entries)
    assert all((entry.content or "").startswith("Bob: ") for entry in entries)
    assert all(m.speaker == "Bob" for m in await held(gm, ann.session))
    shown = (await context(gm, ann.session, "Is anybody allergic to nuts?")).prompt
    assert all("Bob: " in line for line in shown.splitlines() if "allergic" in line)
    assert await list_facts(gm, ann.session, 9) == []


@pytest.mark.parametrize("observed", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "[Bob]: I'm allergic to nuts.\n[Ann]: I have a green bicycle.",
        "Bob: I'm allergic to nuts.\nme: I have a green bicycle.",
        "Ann: I have a green bicycle.\nBob: I'm allergic to nuts.\nAnn: I ride it every day.",
    ],
)
async def test_a_pasted_transcript_is_read_by_speaker(gm: Graphmem, enrol: Enrol, text: str, observed: bool) -> None:
    ann = await enrol("ann")
    if observed:
        await observe(gm, ann.who, [Observation(SourceKind.CHAT, "o1", text.replace("Ann", "me"), gm.clock())])
        await run_jobs(gm, ann.session)
    else:
        await told(gm, ann, text.replace("Ann", "Name of ann"))
    await run_jobs(gm, ann.session)
    speakers = {m.speaker for m in await held(gm, ann.session) if "nuts" in m.words}
    assert speakers == {"Bob"}
    assert {m.speaker for m in await held(gm, ann.session) if "bicycle" in m.words} == {None}
    entries = await list_entries(gm, ann.session)
    assert not [e for e in entries if "nuts" in (e.content or "") and not (e.content or "").startswith("Bob: ")]
