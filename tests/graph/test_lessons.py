"""Lessons on the real database: one memory for each piece of school work, which grows while that goes on (spec 7)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from graphmem.app import Graphmem
from graphmem.flows.context import recall
from graphmem.flows.forgetting import forget_memory
from graphmem.flows.lesson_plan import MOST_CHARACTERS_KEPT
from graphmem.flows.session_cache import open_memories
from graphmem.flows.turn import Incoming, handle_turn
from graphmem.jobs.runner import run_jobs
from graphmem.model import EdgeType, Memory, MemoryRole
from graphmem.store import memories
from tests.conftest import Enrol, Pupil
from tests.support.client import Client
from tests.support.remembering import held

AT = datetime(2026, 3, 2, 15, tzinfo=UTC)
SPOONS = "Julia had 12 spoons at the table after 3 were used for the stew. How many spoons did she have altogether?"
STEPS = (
    (
        "I subtracted 3 spoons from the 12 spoons on the table, so 12 - 3 = 9 spoons.",
        "The spoons for the stew still exist.",
    ),
    ("Oh, so I have to add the spoons: 12 + 3 = 15 spoons altogether.", "Yes, well done."),
)
ANGLES = ("The three angles of the triangle add up to 180 degrees, so the third angle is 70 degrees.", "Right!")


async def worked(
    gm: Graphmem, pupil: Pupil, steps: Sequence[tuple[str, str]], at: datetime = AT, task: str = "", name: str = "t"
) -> None:
    """Take turns at work, a minute each, and do their jobs."""
    for place, (text, reply) in enumerate(steps):
        turn = Incoming(f"{name}{place}", text, at + timedelta(minutes=place), reply, task=task or None)
        await handle_turn(gm, pupil.session, turn)
        await run_jobs(gm, pupil.session)


async def lessons(gm: Graphmem, pupil: Pupil) -> list[Memory]:
    """The lessons in the graph, oldest first."""
    gm.cache.drop_memories(pupil.session)
    index = (await open_memories(gm, pupil.session)).index
    found = [memory for memory in index.latest(len(index)) if memory.role is MemoryRole.LESSON][::-1]
    # The graph keeps sources in no order.
    return [replace(memory, source_refs=tuple(sorted(memory.source_refs))) for memory in found]


async def test_work_of_one_sitting_is_one_lesson_with_all_its_words(gm: Graphmem, ann: Pupil) -> None:
    await worked(gm, ann, STEPS, task=SPOONS)
    (lesson,) = await lessons(gm, ann)
    assert lesson.content == "How many spoons did she have altogether?"
    assert lesson.quote == "\n".join(text for text, _ in STEPS)
    assert lesson.before == "\n".join(reply for _, reply in STEPS)
    assert lesson.source_refs == ("t0", "t1")
    assert (lesson.timestamp, lesson.last_reinforced_at) == (AT, AT + timedelta(minutes=1))
    assert (lesson.reinforcement_count, lesson.consolidated) == (0, True)
    ids = [lesson.id, *(memory.id for memory in await held(gm, ann.session))]
    edges = await memories.list_edges(gm.graph, ann.session, ids)
    shown = {edge.to_id for edge in edges[lesson.id] if edge.type is EdgeType.ABSTRACTS and edge.from_id == lesson.id}
    assert shown == set(ids) - {lesson.id}


async def test_what_the_offline_mind_replies_is_no_part_of_a_lesson(gm: Graphmem, ann: Pupil) -> None:
    turn = Incoming("t0", STEPS[0][0], AT, task=SPOONS)
    outcome = await handle_turn(gm, ann.session, turn)
    await run_jobs(gm, ann.session)
    (lesson,) = await lessons(gm, ann)
    assert outcome.reply
    assert not lesson.before


async def test_another_process_reads_it_as_it_has_grown(gm: Graphmem, replica: Graphmem, ann: Pupil) -> None:
    await worked(gm, ann, STEPS[:1])
    (before,) = await lessons(replica, ann)
    await worked(gm, ann, STEPS[1:], AT + timedelta(minutes=3), name="u")
    (after,) = await lessons(replica, ann)
    assert (before.id, before.source_refs) == (after.id, ("t0",))
    assert after.source_refs == ("t0", "u0")
    index = (await open_memories(gm, ann.session)).index
    own, other = index.vector(after.id), (await open_memories(replica, ann.session)).index.vector(after.id)
    assert own is not None
    assert other is not None
    assert abs(float(own @ other) - 1) < 1e-4


async def test_another_day_another_task_and_another_matter_begin_another_lesson(gm: Graphmem, ann: Pupil) -> None:
    await worked(gm, ann, STEPS, task=SPOONS)
    await worked(gm, ann, STEPS, AT + timedelta(days=1), SPOONS, "next-day")
    await worked(gm, ann, STEPS, AT + timedelta(days=1, minutes=9), "How many forks are left?", "next-task")
    assert [lesson.source_refs for lesson in await lessons(gm, ann)] == [
        ("t0", "t1"),
        ("next-day0", "next-day1"),
        ("next-task0", "next-task1"),
    ]


async def test_without_a_task_the_matter_tells_lessons_apart(gm: Graphmem, ann: Pupil) -> None:
    await worked(gm, ann, [STEPS[0], ANGLES, STEPS[1]])
    assert [lesson.source_refs for lesson in await lessons(gm, ann)] == [("t0", "t2"), ("t1",)]


async def test_talk_of_life_is_no_lesson(gm: Graphmem, ann: Pupil) -> None:
    await worked(gm, ann, [("My brother and I hike in the Jura every Sunday.", "Nice!"), ("thanks, bye", "Bye!")])
    assert await lessons(gm, ann) == []


async def test_a_lesson_is_found_by_its_words_and_those_of_the_tutor(gm: Graphmem, ann: Pupil, enrol: Enrol) -> None:
    ben = await enrol("ben")
    await worked(gm, ann, STEPS)
    await worked(gm, ann, [ANGLES], AT + timedelta(days=1), name="angle")
    for question, ref in (("subtracted instead of adding the stew spoons", "t0"), ("sum of angles", "angle0")):
        found = await recall(gm, ann.session, question, roles=[MemoryRole.LESSON])
        assert {each.memory.role for each in found} == {MemoryRole.LESSON}
        assert ref in found[0].memory.source_refs
        assert await recall(gm, ben.session, question, roles=[MemoryRole.LESSON]) == []


async def test_over_graphql(gm: Graphmem, ann: Pupil, app_client: Client) -> None:
    await worked(gm, ann, STEPS)
    recalled = """query { student(id: "ann") {
        recall(query: "spoons for the stew", roles: [LESSON]) { sourceRefs memory { role quote } } } }"""
    (found,) = (await app_client.call(recalled))["recall"]
    assert (found["memory"]["role"], sorted(found["sourceRefs"])) == ("LESSON", ["t0", "t1"])
    assert found["memory"]["quote"] == "\n".join(text for text, _ in STEPS)


async def test_what_is_forgotten_leaves_its_lesson(gm: Graphmem, ann: Pupil) -> None:
    secret = "I think 1/8 of the marmalade is more, 1/8 is bigger than 1/4."
    await worked(gm, ann, [STEPS[0], (secret, "Not quite."), STEPS[1]], task=SPOONS)
    (told,) = [memory for memory in await held(gm, ann.session) if "marmalade" in memory.words]
    await forget_memory(gm, ann.session, told.id)
    (lesson,) = await lessons(gm, ann)
    assert "marmalade" not in f"{lesson.words}{lesson.before}"
    assert lesson.quote == "\n".join(text for text, _ in STEPS)


async def test_a_lesson_stops_growing(gm: Graphmem, ann: Pupil) -> None:
    long = " ".join(f"I added {n} spoons and {n + 1} spoons, which gave me {2 * n + 1} spoons." for n in range(40))
    await worked(gm, ann, [(long, "ok"), (long.replace("added", "summed"), "ok"), STEPS[1]], task=SPOONS)
    (lesson,) = await lessons(gm, ann)
    assert len(lesson.quote or "") == MOST_CHARACTERS_KEPT
    assert lesson.source_refs == ("t0", "t1")
