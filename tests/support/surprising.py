"""Surprises on demand: a turn with the very level a test wants, since natural ones are rare and not to be steered."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from graphmem.app import Graphmem
from graphmem.flows.surprise import responses_by_episode
from graphmem.jobs.runner import run_jobs
from graphmem.model import Lesson, Level, MemoryRole, Notes, Remember, Session, SurpriseResponse, TurnOutcome
from graphmem.store import jobs
from graphmem.store.jobs import Claimed, Kind, NewJob, opened_payload, sealed_job
from tests.conftest import Pupil, say
from tests.support.minds import ScriptedMind
from tests.support.remembering import asked, changed, nodes

SIGNALS = {
    Level.NORMAL: 0.3,
    Level.BOUNDARY: 0.7,
    Level.COGNITIVE_DISSONANCE: 0.87,
    Level.PARADIGM_SHIFT: 0.95,
}
PREDICTED = "I added 12 and 30."
ROME = "I live in Rome with my family."
PARIS = "Guess what, we moved to Paris!"
TEAL = "My favourite colour is teal."
ORANGE = "Sorry, my favourite colour is actually orange."
CONFUSED = "I don't understand why the denominator of a fraction must stay the same."
CLAIMED_FOR = timedelta(seconds=60)
CALM = "I think I have to add 12 and 30, like before."


async def surprises(gm: Graphmem, pupil: Pupil, text: str, level: Level | None, **more: Any) -> TurnOutcome:
    """A turn that surprises at a level of the test's own and begins an episode, or not at all; its job waits."""
    at, reply = more.pop("at", None), more.pop("reply", None)
    outcome = await say(gm, pupil, text, more.pop("turn_id", None), at=at, reply=reply)
    given: dict[str, Any] = {"level": Level.NORMAL, "begins": False}
    if level is not None:
        given = {"level": level, "begins": True, "surprise": SIGNALS[level], "predicted": PREDICTED} | more
    await rescored(gm, pupil, f"form-{outcome.seq}", own_level=None, **given)
    return outcome


async def rescored(gm: Graphmem, pupil: Pupil, job_id: str, **changes: Any) -> None:
    """Change what the waiting job of a turn holds."""
    (node,) = [node for node in await nodes(gm, pupil.who, "Job") if node["id"] == job_id]
    waiting = Claimed(job_id, Kind.FORM, 0, "", node["payload"])
    work = replace(opened_payload(pupil.session, waiting), **changes)
    payload = sealed_job(pupil.session, NewJob(job_id, work, node["seq"]), gm.clock())["payload"]
    query = "MATCH (j:Job {institution: $i, student_id: $s, id: $id}) SET j.payload = $payload"
    await changed(gm, pupil.who, query, id=job_id, payload=payload)


async def responded(
    gm: Graphmem, pupil: Pupil, text: str, level: Level, *, asks: bool = True, **more: Any
) -> SurpriseResponse:
    """What a surprise leads to, once its jobs have run; a paradigm shift with a mind that asks and reflects."""
    outcome = await surprises(gm, pupil, text, level, **more)
    await run_jobs(asking(gm) if asks and level is Level.PARADIGM_SHIFT else gm, pupil.session)
    found = await response_of(gm, pupil.session, f"episode-{outcome.seq}")
    assert found is not None
    return found


async def response_of(gm: Graphmem, session: Session, memory_id: str) -> SurpriseResponse | None:
    """Response to a surprise, by the episode that keeps it; None for any other memory."""
    return (await responses_by_episode(gm, session, [memory_id])).get(memory_id)


async def counted(gm: Graphmem, pupil: Pupil) -> dict[str, Any]:
    """The student's own totals."""
    query = "MATCH (s:Student {institution: $i, id: $s}) RETURN properties(s) AS s"
    (row,) = await asked(gm, pupil.who, query)
    found: dict[str, Any] = row["s"]
    return found


async def memories_by_id(gm: Graphmem, pupil: Pupil) -> dict[str, dict[str, Any]]:
    return {node["id"]: node for node in await nodes(gm, pupil.who, "Memory")}


async def ids_of(gm: Graphmem, pupil: Pupil, role: MemoryRole) -> list[str]:
    """The ids of a student's memories of one role."""
    return [node["id"] for node in await nodes(gm, pupil.who, "Memory") if node["role"] == role]


async def edges_of(gm: Graphmem, pupil: Pupil, type_: str) -> set[tuple[str, str]]:
    """Edges of a type between a student's nodes, by their ids."""
    query = """MATCH (a {institution: $i, student_id: $s})-[r:$($type)]->(b) WHERE a.id IS NOT NULL
               RETURN a.id AS a, b.id AS b"""
    return {(row["a"], row["b"]) for row in await asked(gm, pupil.who, f"CYPHER 25 {query}", type=type_)}


async def running(gm: Graphmem, pupil: Pupil) -> list[str]:
    """The episode under way."""
    query = "MATCH (:Student {institution: $i, id: $s})-[:EXPERIENCES]->(e) RETURN e.id AS id"
    return [row["id"] for row in await asked(gm, pupil.who, query)]


async def claimed(gm: Graphmem, pupil: Pupil, limit: int = 10) -> list[Claimed]:
    """Take the jobs that wait."""
    now = gm.clock()
    return await jobs.claim(gm.graph, pupil.session, [Kind.FORM], limit, now + CLAIMED_FOR, now)


def asking(gm: Graphmem, about: str = "denominator", *lessons: Lesson) -> Graphmem:
    """The same process with a mind that asks and reflects, as a language model does."""

    async def notes(question: Remember) -> Notes:
        found = (await gm.offline.ask(question)).value
        learned = tuple((0, lesson) for lesson in lessons) or found.learned
        asked, way = f"What is the {about}?", f"Draw the {about} before going on."
        return replace(found, learned=learned, question=asked, teach=way)

    mind = ScriptedMind(gm.offline, {Remember: notes})
    return replace(gm, mind=mind, offline=mind)


async def everything(gm: Graphmem, pupil: Pupil) -> list[str]:
    """All nodes and relationships of a student, for comparing before with after; only that jobs were seen to is not."""
    query = """MATCH (a {institution: $i}) WHERE a.student_id = $s OR a:Student AND a.id = $s
               OPTIONAL MATCH (a)-[r]->(b)
               RETURN labels(a) AS labels, a {.*, jobs_at: null} AS a, type(r) AS type, properties(r) AS r, b.id AS b"""
    return sorted(map(repr, await asked(gm, pupil.who, query)))


async def quiet(gm: Graphmem, pupil: Pupil) -> None:
    """So many calm signals that nothing is a surprise to this student any more."""
    query = "MATCH (s:Student {institution: $i, id: $s}) SET s.signals = [i IN range(1, 100) | 1.0]"
    await changed(gm, pupil.who, query)
    gm.drop(pupil.session)
