"""What is said of surprises afterwards, on the real database: done and undone, and what the next turns learn."""

import asyncio
from collections.abc import Sequence

import pytest

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput, NotFound
from graphmem.flows.observation import observe
from graphmem.flows.session_cache import open_memories
from graphmem.flows.surprise import (
    correct_surprise,
)
from graphmem.jobs.runner import run_jobs
from graphmem.maths.surprise import THRESHOLDS, thresholds
from graphmem.maths.surprise import level as level_of
from graphmem.model import (
    Level,
    Reliability,
    Verdict,
)
from graphmem.store import turns
from tests.conftest import Pupil, another_replica, say
from tests.support.remembering import TOLD, as_said, changed, held, observations, told, turn_state_of
from tests.support.surprising import (
    CONFUSED,
    PARIS,
    ROME,
    TEAL,
    counted,
    everything,
    memories_by_id,
    responded,
    response_of,
    surprises,
)

# Corrections


async def test_what_was_not_important_is_undone(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, ROME)
    response = await responded(gm, ann, PARIS, Level.PARADIGM_SHIFT)
    (revision,) = response.revisions
    memory = await correct_surprise(gm, ann.session, "episode-2", Verdict.WAS_NOT_IMPORTANT, "It was a joke.")
    assert (memory.id, memory.surprise_level, memory.flashbulb) == ("episode-2", Level.NORMAL, False)
    for process in (gm, another_replica(gm)):
        opened = (await open_memories(process, ann.session)).index
        rome, said = opened.get("memory-1-1"), opened.get("memory-2-1")
        assert rome is not None
        assert said is not None
        assert (rome.reliability, rome.invalid_at) == (Reliability.RELIABLE, None)
        assert (said.flashbulb, said.surprise_level) == (False, Level.NORMAL)
    node = (await memories_by_id(gm, ann))["episode-2"]
    assert node["verdict"] == "was_not_important"
    assert isinstance(node["verdict_note"], bytes)
    assert b"joke" not in node["verdict_note"]
    # What it had led to can still be read.
    assert await response_of(gm, ann.session, "episode-2") == response
    assert revision.prior_id == "memory-1-1"


async def test_a_belief_that_only_the_surprise_made_goes_and_comes_with_the_verdict(gm: Graphmem, ann: Pupil) -> None:
    """Older versions made such beliefs."""
    await told(gm, ann, "I live in Rome.")
    await responded(gm, ann, "We moved to Paris.", Level.COGNITIVE_DISSONANCE)
    made = "MATCH (m:Memory {institution: $i, student_id: $s, id: 'memory-2-1'}) SET m.role = 'belief'"
    await changed(gm, ann.who, made)
    gm.cache.drop_memories(ann.session)
    for verdict, valid in (
        (Verdict.WAS_NOT_IMPORTANT, "memory-1-1"),
        (Verdict.WAS_IMPORTANT, "memory-2-1"),
        (Verdict.WAS_NOT_IMPORTANT, "memory-1-1"),
    ):
        await correct_surprise(gm, ann.session, "episode-2", verdict, "")
        beliefs = [m for m in await held(gm, ann.session) if m.id in {"memory-1-1", "memory-2-1"}]
        assert [m.id for m in beliefs if m.invalid_at is None] == [valid]
        assert [m.id for m in beliefs if m.reliability is Reliability.RELIABLE] == [valid]


async def test_the_verdict_may_change_and_twice_is_as_once(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, ROME)
    await responded(gm, ann, PARIS, Level.PARADIGM_SHIFT)
    for _ in range(2):
        await correct_surprise(gm, ann.session, "episode-2", Verdict.WAS_NOT_IMPORTANT, "")
    undone = await counted(gm, ann)
    assert undone["verdicts"] == ["was_not_important"]
    for _ in range(2):
        again = await correct_surprise(gm, ann.session, "episode-2", Verdict.WAS_IMPORTANT, "It was, after all.")
    assert (again.surprise_level, again.flashbulb) == (Level.PARADIGM_SHIFT, True)
    (rome,) = [m for m in await held(gm, ann.session) if m.id == "memory-1-1"]
    assert rome.reliability is Reliability.SUPERSEDED
    assert rome.invalid_at is not None
    totals = await counted(gm, ann)
    assert totals["verdicts"] == ["was_not_important", "was_important"]
    assert totals["corrected_levels"] == ["paradigm_shift"] * 2
    assert totals["corrected_signals"] == [0.95, 0.95]


async def test_what_was_important_goes_one_level_up(gm: Graphmem, ann: Pupil) -> None:
    await responded(gm, ann, TOLD, Level.BOUNDARY)
    memory = await correct_surprise(gm, ann.session, "episode-1", Verdict.WAS_IMPORTANT, "")
    assert (memory.surprise_level, memory.flashbulb) == (Level.COGNITIVE_DISSONANCE, False)
    await responded(gm, ann, CONFUSED, Level.COGNITIVE_DISSONANCE)
    memory = await correct_surprise(gm, ann.session, "episode-2", Verdict.WAS_IMPORTANT, "")
    assert (memory.surprise_level, memory.flashbulb) == (Level.PARADIGM_SHIFT, True)
    lit = {memory_id for memory_id, node in (await memories_by_id(gm, ann)).items() if node["flashbulb"]}
    assert "episode-2" in lit


async def test_any_memory_of_a_surprising_message_stands_for_its_episode(gm: Graphmem, ann: Pupil) -> None:
    await told(gm, ann, ROME)
    await responded(gm, ann, PARIS, Level.PARADIGM_SHIFT)
    memory = await correct_surprise(gm, ann.session, "memory-2-1", Verdict.WAS_NOT_IMPORTANT, "")
    assert (memory.id, memory.flashbulb, memory.surprise_level) == ("memory-2-1", False, Level.NORMAL)
    found = await memories_by_id(gm, ann)
    assert not found["episode-2"]["flashbulb"]
    assert found["episode-2"]["verdict"] == "was_not_important"
    assert found["memory-1-1"]["reliability"] == "reliable"
    again = await correct_surprise(gm, ann.session, "memory-2-1", Verdict.WAS_IMPORTANT, "")
    assert (again.flashbulb, again.surprise_level) == (True, Level.PARADIGM_SHIFT)
    assert (await counted(gm, ann))["corrected_levels"] == ["paradigm_shift"] * 2


async def test_a_memory_of_a_calm_turn_can_be_called_important(gm: Graphmem, ann: Pupil) -> None:
    await surprises(gm, ann, TOLD, None)
    await run_jobs(gm, ann.session)
    (before,) = await held(gm, ann.session)
    assert before.surprise_level is not None
    memory = await correct_surprise(gm, ann.session, before.id, Verdict.WAS_IMPORTANT, "")
    levels = list(Level)
    assert memory.surprise_level is levels[levels.index(before.surprise_level) + 1]


async def test_a_correction_that_makes_no_sense_is_refused(gm: Graphmem, ann: Pupil) -> None:
    await responded(gm, ann, TOLD, Level.BOUNDARY)
    await observe(gm, ann.who, observations([TEAL]))
    await run_jobs(gm, ann.session)
    (noted,) = [m.id for m in await held(gm, ann.session) if as_said(m) == TEAL]
    before = await everything(gm, ann)
    with pytest.raises(NotFound):
        await correct_surprise(gm, ann.session, "nobody", Verdict.WAS_IMPORTANT, "")
    with pytest.raises(InvalidInput, match="Nothing was surprising"):
        await correct_surprise(gm, ann.session, noted, Verdict.WAS_IMPORTANT, "")
    with pytest.raises(InvalidInput):
        await correct_surprise(gm, ann.session, "episode-1", Verdict.WAS_IMPORTANT, "x" * 2001)
    assert await everything(gm, ann) == before


async def test_two_corrections_at_once_are_both_made(gm: Graphmem, replica: Graphmem, ann: Pupil) -> None:
    await responded(gm, ann, TOLD, Level.BOUNDARY)
    await responded(gm, ann, CONFUSED, Level.PARADIGM_SHIFT)
    await asyncio.gather(
        correct_surprise(gm, ann.session, "episode-1", Verdict.WAS_IMPORTANT, ""),
        correct_surprise(replica, ann.session, "episode-2", Verdict.WAS_NOT_IMPORTANT, ""),
    )
    assert sorted((await counted(gm, ann))["verdicts"]) == ["was_important", "was_not_important"]
    found = await memories_by_id(gm, ann)
    assert (found["episode-1"]["surprise_level"], found["episode-2"]["surprise_level"]) == (
        "cognitive_dissonance",
        "normal",
    )


# Thresholds


async def with_signals(gm: Graphmem, pupil: Pupil, signals: Sequence[float]) -> None:
    """A student who has been surprised so often and so much."""
    query = "MATCH (s:Student {institution: $i, id: $s}) SET s.signals = $signals"
    await changed(gm, pupil.who, query, signals=list(signals))
    gm.drop(pupil.session)


async def test_the_next_turns_are_judged_by_what_was_said_of_surprises(gm: Graphmem, ann: Pupil) -> None:
    """A surprise that was called unimportant raises the threshold of its level, an important one lowers the next."""
    await responded(gm, ann, TOLD, Level.BOUNDARY)
    for _ in range(3):
        await correct_surprise(gm, ann.session, "episode-1", Verdict.WAS_NOT_IMPORTANT, "")
        await correct_surprise(gm, ann.session, "episode-1", Verdict.WAS_IMPORTANT, "")
    read = await turns.before(gm.graph, ann.session, "none", gm.clock())
    assert read is not None
    learned = thresholds(read.state.corrections)
    assert learned[Level.BOUNDARY] > THRESHOLDS[Level.BOUNDARY]
    assert learned[Level.COGNITIVE_DISSONANCE] < THRESHOLDS[Level.COGNITIVE_DISSONANCE]
    # What tells no more than usual has the level of its signal.
    for day in ("Monday", "Tuesday", "Thursday", "Friday", "Sunday"):
        outcome = await say(gm, ann, f"My friend plays the drums on {day}s.")
    assert outcome.level is level_of(outcome.surprise, learned)


async def test_a_student_s_own_history_changes_the_signal(gm: Graphmem, ann: Pupil) -> None:
    await with_signals(gm, ann, [0.0] * 100)
    loud = await say(gm, ann, TOLD)
    await with_signals(gm, ann, [1.0] * 100)
    assert (await say(gm, ann, PARIS)).surprise < loud.surprise


async def test_a_hundred_signals_are_kept(gm: Graphmem, ann: Pupil) -> None:
    await with_signals(gm, ann, [i / 1000 for i in range(100)])
    outcomes = [await say(gm, ann, f"I add {i} and 30.") for i in range(3)]
    kept = (await counted(gm, ann))["signals"]
    assert len(kept) == 100
    assert kept[:97] == [i / 1000 for i in range(3, 100)]
    assert len(outcomes) == 3
    assert all(0.0 <= each <= 1.0 for each in kept[97:])
    assert list(turn_state_of(gm, ann).state.signals) == kept


async def test_a_hundred_corrections_are_kept(gm: Graphmem, ann: Pupil) -> None:
    await responded(gm, ann, TOLD, Level.BOUNDARY)
    query = """MATCH (s:Student {institution: $i, id: $s})
               SET s.corrected_signals = [i IN range(1, 100) | 0.5],
                   s.corrected_levels = [i IN range(1, 100) | 'normal'],
                   s.verdicts = [i IN range(1, 100) | 'was_important']"""
    await changed(gm, ann.who, query)
    await correct_surprise(gm, ann.session, "episode-1", Verdict.WAS_NOT_IMPORTANT, "")
    totals = await counted(gm, ann)
    for name in ("corrected_signals", "corrected_levels", "verdicts"):
        assert len(totals[name]) == 100
    assert totals["verdicts"][98:] == ["was_important", "was_not_important"]
