"""Surprises on demand: a turn with the very job a test wants, since natural ones are rare and not to be steered."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from graphmem.app import Graphmem
from graphmem.flows.surprise import responses_by_episode
from graphmem.jobs.runner import HANDLERS, run_jobs
from graphmem.model import (
    Analyse,
    Analysis,
    BeliefUpdate,
    Lesson,
    Level,
    MemoryKind,
    MemoryRole,
    Modality,
    Reflection,
    Session,
    SurpriseResponse,
    TurnOutcome,
)
from graphmem.store import jobs
from graphmem.store.jobs import Claimed, Kind, NewJob, SurpriseJob, sealed_job
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
TOWNS = """
    Lisbon Bergen Oslo Turin Ghent Porto Riga Split Krakow Malmo Basel Nantes Seville Leeds Graz Trieste Varna Bath
    Cork Uppsala Tartu Brno Kiel Lyon Genoa Delft Bruges Palermo Tromso Cadiz Arles Narvik Zadar Parma Gdansk Lucerne
    """.split()  # noqa: SIM905
ANIMALS = """
    otters herons newts badgers lynxes storks weasels toads finches moths beavers falcons hedgehogs ravens salmon trout
    squirrels swans voles wasps bees cranes deer eagles ferrets geese hares ibexes jays kites larks mice owls pikes
    rabbits shrews
    """.split()  # noqa: SIM905
MANY = " ".join(
    f"In {town} I photographed {i + 2} {animal}." for i, (town, animal) in enumerate(zip(TOWNS, ANIMALS, strict=True))
)
FACTS = tuple(
    Lesson(f"Paints {animal} on silk for the market of {town}.", (animal,))
    for town, animal in zip(TOWNS, ANIMALS, strict=True)
)
"""More facts than any level takes."""
CLAIMED_FOR = timedelta(seconds=60)
CALM = "I think I have to add 12 and 30, like before."


async def surprises(gm: Graphmem, pupil: Pupil, text: str, level: Level | None, **more: Any) -> TurnOutcome:
    """A turn that surprises at a level of the test's own, or not at all; its jobs wait."""
    at, reply = more.pop("at", None), more.pop("reply", None)
    outcome = await say(gm, pupil, text, more.pop("turn_id", None), at=at, reply=reply)
    await changed(
        gm, pupil.who, "MATCH (j:Job {institution: $i, student_id: $s, id: $id}) DELETE j", id=f"surprise-{outcome.seq}"
    )
    if level is not None:
        await enqueued(gm, pupil, outcome, text, level, **more)
    return outcome


async def enqueued(gm: Graphmem, pupil: Pupil, outcome: TurnOutcome, text: str, level: Level, **more: Any) -> None:
    """Write the job of a surprising turn, as the turn would have done."""
    given: dict[str, Any] = {"match": 0.1, "predicted": PREDICTED, "before": ""} | more
    work = SurpriseJob(
        turn_id=outcome.turn_id,
        at=outcome.at,
        level=level,
        signal=SIGNALS[level],
        importance=outcome.importance,
        actual=text,
        **given,
    )
    job = sealed_job(pupil.session, NewJob(f"surprise-{outcome.seq}", work, outcome.seq), gm.clock())
    await changed(gm, pupil.who, "CREATE (j:Job {institution: $i, student_id: $s}) SET j += $job", job=job)


async def responded(
    gm: Graphmem, pupil: Pupil, text: str, level: Level, *, asks: bool = True, **more: Any
) -> SurpriseResponse:
    """What a surprise leads to, once its jobs have run; with a mind that asks and reflects."""
    outcome = await surprises(gm, pupil, text, level, **more)
    await run_jobs(asking(gm) if asks else gm, pupil.session)
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
    """Take the surprises that wait, once everything else has been done."""
    now = gm.clock()
    return await jobs.claim(gm.graph, pupil.session, [Kind.SURPRISE], limit, now + CLAIMED_FOR, now)


async def formed(gm: Graphmem, pupil: Pupil) -> None:
    """Form the memories that wait, and leave surprises alone."""
    now = gm.clock()
    found = await jobs.claim(gm.graph, pupil.session, [Kind.FORM], 100, now + CLAIMED_FOR, now)
    if found:
        await HANDLERS[Kind.FORM].run(gm, pupil.session, found)


def convinced(gm: Graphmem, *updates: BeliefUpdate) -> Graphmem:
    """The same process with a mind that finds certain beliefs changed."""

    async def analyses(question: Analyse) -> tuple[Analysis, ...]:
        return tuple(Analysis("It was said so.", updates) for _ in question.episodes)

    mind = ScriptedMind(gm.offline, {Analyse: analyses})
    return replace(gm, mind=mind, offline=mind)


def asking(gm: Graphmem, about: str = "denominator", facts: tuple[Lesson, ...] = ()) -> Graphmem:
    """The same process with a mind that asks and reflects after a paradigm shift, as a language model does."""

    async def analyses(question: Analyse) -> tuple[Analysis | None, ...]:
        found = (await gm.offline.ask(question)).value
        asked = tuple(f"What {each} the {about}?" for each in ("is", "changes", "helps with"))
        reflection = Reflection(f"The {about} is a puzzle.", f"Draw the {about} before going on.")
        return tuple(
            each and replace(each, questions=asked, reflection=reflection, facts=facts or each.facts) for each in found
        )

    mind = ScriptedMind(gm.offline, {Analyse: analyses})
    return replace(gm, mind=mind, offline=mind)


def telling(gm: Graphmem) -> Graphmem:
    """The same process with a mind that finds more facts in `MANY` than any level takes."""

    async def analyses(question: Analyse) -> tuple[Analysis, ...]:
        return tuple(Analysis("It was said so.", facts=FACTS if e.actual == MANY else ()) for e in question.episodes)

    mind = ScriptedMind(gm.offline, {Analyse: analyses})
    return replace(gm, mind=mind, offline=mind)


def update(prior: str | None, new: str, *, evolution: bool = True) -> BeliefUpdate:
    kind, modality = MemoryKind.TRAIT, Modality.SEMANTIC
    return BeliefUpdate(prior, "What was held.", new, 0, 8, kind, modality, -0.8, 0.9, evolution)


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
