"""Students with memories: what tests say, form and read."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from graphmem.app import Graphmem
from graphmem.cache import OpenMemories
from graphmem.flows import students
from graphmem.flows.observation import observe
from graphmem.jobs.runner import run_jobs
from graphmem.model import OF_A_SITTING, Memory, Observation, Recalled, Session, SourceKind, Unlocked, Who
from graphmem.store import memories
from graphmem.store.memories import Filter
from tests.conftest import PASSWORD, Pupil, say

TOLD = "My sister Ada moved to Lisbon with her horse Bella in May."
LIFE = (
    TOLD,
    "My favourite colour is teal and my room is full of it.",
    "On Tuesday I broke my left arm while climbing the old oak behind the school.",
    "Volcanoes erupt because hot magma rises through cracks in the crust.",
    "I am allergic to peanuts, so I never eat satay.",
    "Uncle Ferdinand builds tiny submarines out of matchboxes.",
)
"""What a student might tell of herself, one memory each."""


async def asked(gm: Graphmem, who: Who, query: str, **params: Any) -> list[dict[str, Any]]:
    """Rows of a statement about one student."""
    return await gm.graph.execute(query, params | {"i": who.institution, "s": who.student_id}, reads=True)


async def changed(gm: Graphmem, who: Who, query: str, **params: Any) -> None:
    """Change something of one student behind everybody's back."""
    await gm.graph.execute(query, params | {"i": who.institution, "s": who.student_id}, reads=False)


async def nodes(gm: Graphmem, who: Who, label: str) -> list[dict[str, Any]]:
    query = (
        "MATCH (n:$($label) {institution: $i, student_id: $s}) RETURN properties(n) AS n, labels(n) AS l ORDER BY n.id"
    )
    return [row["n"] | {"labels": set(row["l"])} for row in await asked(gm, who, query, label=label)]


async def held(gm: Graphmem, session: Session) -> list[Memory]:
    """All memories, opened, oldest first; but for the episodes that surprises bring beside them."""
    found = await memories.list_memory_page(gm.graph, session, Filter(), gm.clock(), 500, None, session)
    assert await memories.count_of_student(gm.graph, session, Filter(), gm.clock()) == len(found)
    return [memory for memory in found[::-1] if memory.role not in OF_A_SITTING]


async def formed(gm: Graphmem, who: Who) -> list[dict[str, Any]]:
    """Nodes of all memories but for the episodes that surprises bring beside them."""
    return [node for node in await nodes(gm, who, "Memory") if node["role"] not in OF_A_SITTING]


async def contents(gm: Graphmem, session: Session) -> list[str]:
    """What was said of each memory, oldest first."""
    return [as_said(memory) for memory in await held(gm, session)]


def as_said(memory: Memory) -> str:
    """The words a memory comes from."""
    return memory.quote or memory.content or ""


async def told(gm: Graphmem, pupil: Pupil, *texts: str, **more: Any) -> None:
    """Turns, and the memories formed of them."""
    for text in texts:
        await say(gm, pupil, text, **more)
    await run_jobs(gm, pupil.session)


async def again_open(gm: Graphmem, pupil: Pupil) -> Pupil:
    token, session = await students.open_session(gm, pupil.who, PASSWORD)
    return replace(pupil, session=session, token=token)


def observations(texts: Sequence[str], **more: Any) -> list[Observation]:
    at = datetime(2026, 1, 5, 9, tzinfo=UTC)
    fixed = {"kind": SourceKind.LESSON} | more
    return [Observation(ref=f"r{i}", text=t, at=at + timedelta(minutes=i), **fixed) for i, t in enumerate(texts)]


async def lived(gm: Graphmem, pupil: Pupil, texts: tuple[str, ...] = LIFE) -> dict[str, Memory]:
    """Memories of a life, by what they say."""
    await observe(gm, pupil.who, observations(texts, kind=SourceKind.CHAT))
    await run_jobs(gm, pupil.session)
    return {as_said(memory): memory for memory in await held(gm, pupil.session)}


def turn_state_of(gm: Graphmem, pupil: Pupil) -> Unlocked:
    """The turn state that a process holds of a student."""
    held = gm.turn_state(pupil.who)
    assert held is not None
    return held


def memories_of(gm: Graphmem, pupil: Pupil) -> OpenMemories:
    """The memories that a process holds of a student."""
    held = gm.memories(pupil.who)
    assert held is not None
    return held


async def linked(gm: Graphmem, pupil: Pupil, from_id: str, to_id: str, type_: str, weight: float) -> None:
    """An edge that another process has written."""
    link = """MATCH (student:Student {institution: $i, id: $s})
              MATCH (a:Memory {institution: $i, student_id: $s, id: $a})
              MATCH (b:Memory {institution: $i, student_id: $s, id: $b})
              SET student.memory_version = student.memory_version + 1, a.written = student.memory_version
              CREATE (a)-[:$($t) {weight: $w, created_at: datetime(), reliability: 'reliable'}]->(b)"""
    await changed(gm, pupil.who, f"CYPHER 25 {link}", a=from_id, b=to_id, t=type_, w=weight)


def said(found: list[Recalled]) -> list[str]:
    return [as_said(each.memory) for each in found]
