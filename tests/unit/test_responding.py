"""What the response to a surprise decides, without a database or a model."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.flows.formation_plan import Marked, MessageScores, Reading
from graphmem.flows.surprise import BELIEVED, LINKED, with_response
from graphmem.model import (
    Domain,
    EdgeType,
    Fact,
    Heard,
    Lesson,
    Level,
    Memory,
    MemoryKind,
    MemoryRole,
    Mismatch,
    Modality,
    Note,
    Question,
    Source,
    SourceKind,
    Strategy,
    SurpriseResponse,
    Vector,
)
from graphmem.search.index import SearchIndex
from graphmem.store.changes import Changes, End, New, NewEdge, NewQuestion, Reinforced, Span, Update
from tests.support.memories import memory

AT = datetime(2026, 1, 15, 9, tzinfo=UTC)
EARLIER = AT - timedelta(days=1)
EAST, NORTH, UP = np.eye(8, dtype=np.float32)[:3]
LEVELS = list(Level)
TEXT = "We moved to Paris!"


def towards(cosine: float) -> Vector:
    """A vector of this cosine with EAST."""
    found: Vector = (cosine * EAST + np.sqrt(1 - cosine**2) * NORTH).astype(np.float32)
    return found


def marked(content: str, vector: Vector = UP) -> Marked:
    return Marked(content, content, vector, Domain.OTHER, 0.0, f"hash of {content}", None)


def reading(level: Level = Level.PARADIGM_SHIFT, **more: Any) -> Reading:
    note = Note(0, len(TEXT), None, Modality.EPISODIC, MemoryKind.EPISODE)
    fixed: dict[str, Any] = {
        "key": "7",
        "source": Source("source-7", SourceKind.CHAT, "t7", AT),
        "heard": Heard(TEXT, AT, violated=Mismatch("Yes.", TEXT)),
        "snr": 400,
        "scores": MessageScores(0.5, 0.95, level, 1.0),
        "notes": (),
        "marked": (),
        "entries": (),
        "inferred_by": "offline",
        "episode": marked("Paris"),
        "clarifies": (note, marked(TEXT, EAST)),
    }
    return Reading(**(fixed | more))


def known(memory_id: str, content: str = "I live in Rome.", **changes: Any) -> Memory:
    return memory(memory_id, content, **({"timestamp": EARLIER, "kind": MemoryKind.TRAIT} | changes))


def index(*memories: tuple[Memory, Vector]) -> SearchIndex:
    held = SearchIndex(8)
    for each, vector in memories:
        held.put(each, vector)
    return held


def said(**changes: Any) -> New:
    fixed: dict[str, Any] = {
        "memory_id": "memory-7-1",
        "content": TEXT,
        "timestamp": AT,
        "source_refs": ("t7",),
        "confidence": 0.9,
    }
    return New(known(**(fixed | changes)), EAST, Span(0, len(TEXT)))


def moved(*rows: Any) -> Changes:
    """What is formed of a move: the old home ends, the new one takes its place."""
    edge = NewEdge("m1", "memory-7-1", EdgeType.TEMPORAL_EVOLUTION, 1.0)
    return Changes(3, "offline", (said(), edge, End("m1"), *rows))


def response(found: Changes) -> SurpriseResponse:
    assert found.response is not None
    return found.response


def edges(found: Changes, type_: EdgeType) -> list[tuple[str, str]]:
    return [(edge.from_id, edge.to_id) for edge in found.of(NewEdge) if edge.type is type_]


def reflections(found: Changes) -> list[Question]:
    return [row.question for row in found.of(NewQuestion) if row.is_reflection]


# Levels


@pytest.mark.parametrize("level", LEVELS)
def test_each_level_adds_to_the_one_below(level: Level) -> None:
    asked = NewQuestion(Question("question-7", "Where?", AT), "memory-7-1")
    own = reading(level, teach=marked("Ask first."))
    found = with_response(moved(asked), own, index((known("m1"), EAST)))
    rank = LEVELS.index(level)
    wanted = ["start_episode", "extract_facts", *["update_beliefs"] * (rank > 1), *["flashbulb"] * (rank > 2)]
    assert [action.kind for action in response(found).actions] == [
        *wanted,
        *(["connect_prior"] * (rank > 2)),
        *("queue_questions", "self_reflect"),
    ]
    assert [each.memory.id for each in found.of(New)] == ["episode-7", "memory-7-1"]
    assert found.of(New)[0].memory.flashbulb is (rank > 2)
    assert edges(found, EdgeType.REMINDS_OF) == [("episode-7", "m1")] * (rank > 2)
    assert [each.text for each in reflections(found)] == ["Ask first."] * (rank > 2)
    assert [r.prior_id for r in response(found).revisions] == ["m1"] * (rank > 1)
    assert (found.episode_id, found.responded_id) == ("episode-7", "episode-7")
    assert (response(found).level, response(found).signal, response(found).offline) == (level, 0.95, True)


@pytest.mark.parametrize("level", LEVELS)
def test_without_an_episode_the_first_memory_keeps_it(level: Level) -> None:
    found = with_response(moved(), reading(level, episode=None, linked=True), index((known("m1"), EAST)))
    assert found.episode_id is None
    assert (found.response is None) is (level is Level.NORMAL)
    if found.response is not None:
        assert (found.responded_id, found.response.offline) == ("memory-7-1", False)


@pytest.mark.parametrize(
    ("changes", "own"),
    [
        (Changes(3, "offline"), reading(episode=None)),
        (Changes(3, "offline", (said(role=MemoryRole.PROCEDURE),)), reading(episode=None)),
        (Changes(3, "offline", (said(role=MemoryRole.LESSON),)), reading(episode=None)),
        (Changes(3, "offline", (said(),)), replace(reading(episode=None), scores=MessageScores(0.5))),
    ],
)
def test_nothing_follows_where_nothing_is_formed(changes: Changes, own: Reading) -> None:
    assert with_response(changes, own, index()) == changes


# What it says


def test_the_explanation_says_what_was_expected_and_what_it_taught() -> None:
    lesson = Lesson("Ann has moved.", ("move",))
    taught = Fact("fact-t7", 0, lesson.text, lesson.tags, AT)
    found = response(with_response(moved(taught), reading(lesson=lesson), index()))
    assert found.explanation == "Expected “Yes”, heard “We moved to Paris!” (signal 0.95). Ann has moved."
    assert found.actions[1].fact_count == 1
    calm = reading(Level.NORMAL, heard=Heard("ok", AT))
    found = response(with_response(moved(), calm, index()))
    assert found.explanation == "Nothing else was expected, heard “ok” (signal 0.95)."


@pytest.mark.parametrize(
    ("rows", "level", "own", "wanted"),
    [
        ((), Level.NORMAL, {}, Strategy.NONE),
        ((), Level.BOUNDARY, {}, Strategy.DEEP_EXTRACTION),
        ((), Level.COGNITIVE_DISSONANCE, {}, Strategy.CONNECT_PRIOR),
        ((NewQuestion(Question("q", "?", AT), "memory-7-1"),), Level.BOUNDARY, {}, Strategy.ASK_FOLLOW_UP_QUESTIONS),
        ((), Level.BOUNDARY, {"teach": marked("Ask first.")}, Strategy.SELF_REFLECT),
    ],
)
def test_the_strategy_follows_from_what_was_done(
    rows: tuple[Any, ...], level: Level, own: dict[str, Any], wanted: Strategy
) -> None:
    assert response(with_response(moved(*rows), reading(level, **own), index((known("m1"), EAST)))).strategy is wanted


# Belief updates


def test_a_belief_that_ends_is_closed_and_one_that_is_refined_is_not() -> None:
    refines = NewEdge("memory-7-1", "m2", EdgeType.REFINES, 1.0)
    held = index((known("m1"), EAST), (known("m2", "I love towns."), UP))
    found = response(with_response(moved(refines), reading(), held))
    assert [(r.prior_id, r.new_id, r.prior_assumption) for r in found.revisions] == [
        ("m1", "memory-7-1", "I live in Rome."),
        (None, "memory-7-1", "I love towns."),
    ]
    assert found.revisions[0].confidence_delta == pytest.approx(0.9 - known("m1").confidence)


def test_what_happened_becomes_a_belief_where_it_is_the_new_understanding() -> None:
    edge = NewEdge("m1", "memory-7-1", EdgeType.TEMPORAL_EVOLUTION, 1.0)
    changes = Changes(3, "offline", (said(kind=MemoryKind.EPISODE), edge, End("m1")))
    found = with_response(changes, reading(), index((known("m1"), EAST)))
    assert Update("memory-7-1", {"kind": MemoryKind.TRAIT}) in found.of(Update)


def test_an_observation_that_ends_is_no_belief_update() -> None:
    held = index((known("m1", kind=MemoryKind.EPISODE), EAST))
    assert response(with_response(moved(), reading(), held)).revisions == ()


# Links and flashbulbs


def test_the_nearest_prior_memories_are_linked() -> None:
    near = [(known(f"m{i}", f"Memory {i}."), towards(0.9 - i / 20)) for i in range(8)]
    other = [
        (known("opposite"), -EAST),
        (known("closed", invalid_at=EARLIER), EAST),
        (known("later", timestamp=AT + timedelta(seconds=1)), EAST),
        (known("again"), EAST),
    ]
    again = Reinforced(known("again"), Span(0, 3))
    found = with_response(Changes(3, "offline", (said(), again)), reading(), index(*near, *other))
    assert edges(found, EdgeType.REMINDS_OF) == [("episode-7", f"m{i}") for i in range(LINKED)]
    weights = [edge.weight for edge in found.of(NewEdge) if edge.type is EdgeType.REMINDS_OF]
    assert weights == sorted(weights, reverse=True)
    assert [each.memory_id for each in found.of(Update) if each.values.get("flashbulb")] == ["again"]


# Anything


@st.composite
def lives(draw: st.DrawFn) -> tuple[Changes, Reading, SearchIndex]:
    """Whatever may be remembered and formed."""
    held, ids = index(), [f"m{i}" for i in range(draw(st.integers(0, 8)))]
    for memory_id in ids:
        made = known(
            memory_id,
            content_hash=f"hash of {memory_id}",
            kind=draw(st.sampled_from(MemoryKind)),
            invalid_at=draw(st.sampled_from([None, EARLIER])),
            timestamp=draw(st.sampled_from([EARLIER, AT, AT + timedelta(days=1)])),
        )
        held.put(made, draw(st.floats(-1, 1, width=32).map(towards)))
    rows: list[Any] = [said(kind=draw(st.sampled_from(MemoryKind)))] * draw(st.integers(0, 1))
    for memory_id in draw(st.lists(st.sampled_from(ids), unique=True)) if ids and rows else ():
        ends = draw(st.booleans())
        edge = (memory_id, "memory-7-1") if ends else ("memory-7-1", memory_id)
        rows.append(NewEdge(*edge, EdgeType.TEMPORAL_EVOLUTION if ends else EdgeType.REFINES, 1.0))
        rows += [End(memory_id)] * ends
    episode = draw(st.sampled_from([None, marked("Paris")]))
    return Changes(1, "offline", tuple(rows)), reading(draw(st.sampled_from(LEVELS)), episode=episode), held


@given(lives())
def test_any_response_fits_the_graph(life: tuple[Changes, Reading, SearchIndex]) -> None:
    changes, own, held = life
    found = with_response(changes, own, held)
    new = {each.memory.id: each.memory for each in found.of(New)}
    assert len(new) == len(found.of(New))
    for edge in found.of(NewEdge):
        assert edge.from_id != edge.to_id
        assert {edge.from_id, edge.to_id} <= {*new, *(m.id for m in held.latest(len(held)))}
        assert 0 < edge.weight <= 1
    assert len(edges(found, EdgeType.REMINDS_OF)) <= LINKED
    if found.response is None:
        return
    assert found.responded_id in new
    kinds = {u.memory_id: u.values["kind"] for u in found.of(Update) if "kind" in u.values}
    for revision in found.response.revisions:
        assert revision.prior_id in {None, *found.ended}
        assert kinds.get(revision.new_id, new[revision.new_id].kind) in BELIEVED
