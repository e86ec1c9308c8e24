"""What the response to a surprise decides, without a database or a model."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.flows import surprise_plan as responding
from graphmem.flows.surprise_plan import BELIEFS, LINKED, MOST_FACTS, Understood, Worded, beliefs_near, planned_response
from graphmem.model import (
    Analysis,
    BeliefUpdate,
    Domain,
    EdgeType,
    Fact,
    Lesson,
    Level,
    Memory,
    MemoryKind,
    MemoryRole,
    Modality,
    Question,
    Reflection,
    Reliability,
    SourceKind,
    Strategy,
    SurpriseResponse,
    Vector,
)
from graphmem.search.index import SearchIndex
from graphmem.store.changes import Changes, New, NewEdge, NewQuestion, Origin, Span, Update
from graphmem.store.jobs import SurpriseJob
from tests.support.memories import memory

AT = datetime(2026, 1, 15, 9, tzinfo=UTC)
EARLIER = AT - timedelta(days=1)
EAST, NORTH, UP, AWAY = np.eye(8, dtype=np.float32)[:4]
LEVELS = list(Level)
SHAKEN = {Level.COGNITIVE_DISSONANCE, Level.PARADIGM_SHIFT}


def towards(cosine: float, other: Vector = NORTH) -> Vector:
    """A vector of this cosine with EAST."""
    found: Vector = (cosine * EAST + np.sqrt(1 - cosine**2) * other).astype(np.float32)
    return found


def worded(content: str, vector: Vector = UP, content_hash: str | None = None) -> Worded:
    return Worded(content, vector, Domain.OTHER, 0.0, content_hash or f"hash of {content}", f"own hash of {content}")


def update(prior: str | None, new: str, *, evolution: bool = True) -> BeliefUpdate:
    kind, modality = MemoryKind.TRAIT, Modality.SEMANTIC
    return BeliefUpdate(prior, "What was held.", new, 0, 4, kind, modality, -0.5, 0.8, evolution)


def understood(level: Level = Level.PARADIGM_SHIFT, *updates: BeliefUpdate, **more: object) -> Understood:
    job = SurpriseJob("t7", AT, level, 0.95, 0.1, 0.5, "Yes.", "So?", "We moved to Paris!")
    facts = tuple(Lesson(f"Fact {i}.", ("tag",)) for i in range(40))
    fixed: dict[str, object] = {
        "seq": 7,
        "job": job,
        "snr": 400,
        "analysis": Analysis(
            "It was said so.",
            updates,
            Strategy.CONNECT_PRIOR,
            facts,
            ("Why?", "Where?"),
            Reflection("I took it for granted.", "Ask first."),
        ),
        "episode": worded("Turned to Paris.", EAST, "hash of the episode"),
        "updates": tuple(worded(each.new) for each in updates),
        "vector": EAST,
        "procedure": worded("Ask first.", AWAY),
    }
    return Understood(**(fixed | more))  # type: ignore[arg-type]


def known(memory_id: str, content: str = "I live in Rome.", **changes: Any) -> Memory:
    return memory(memory_id, content, **({"timestamp": EARLIER, "kind": MemoryKind.TRAIT} | changes))


def index(*memories: tuple[Memory, Vector]) -> SearchIndex:
    held = SearchIndex(8)
    for each, vector in memories:
        held.put(each, vector)
    return held


def closed(found: Changes) -> tuple[str, ...]:
    return tuple(each.memory_id for each in found.of(Update) if "invalid_at" in each.values)


def believed(found: Changes) -> tuple[tuple[str, MemoryKind], ...]:
    return tuple((each.memory_id, each.values["kind"]) for each in found.of(Update) if "kind" in each.values)


def reflections(found: Changes) -> list[Question]:
    return [row.question for row in found.of(NewQuestion) if row.is_reflection]


def flashbulbs(found: Changes) -> tuple[str, ...]:
    return tuple(each.memory_id for each in found.of(Update) if each.values.get("flashbulb"))


def response(found: Changes) -> SurpriseResponse:
    assert found.response is not None
    return found.response


def edges(found: Changes, type_: EdgeType) -> list[tuple[str, str]]:
    return [(edge.from_id, edge.to_id) for edge in found.of(NewEdge) if edge.type is type_]


# Levels


@pytest.mark.parametrize("level", LEVELS)
def test_each_level_adds_to_the_one_below(level: Level) -> None:
    found = planned_response(understood(level, update("m1", "I live in Paris.")), index((known("m1"), EAST)), 3)
    rank = LEVELS.index(level)
    wanted = ["start_episode", "extract_facts", *["update_beliefs"] * (rank > 1)]
    wanted += ["flashbulb", "connect_prior", "queue_questions", "self_reflect"] * (rank > 2)
    assert [action.kind for action in response(found).actions] == wanted
    assert len(found.of(Fact)) == MOST_FACTS[level] == (0, 10, 20, 30)[rank]
    assert [each.memory.id for each in found.of(New)] == [
        "episode-7",
        *["belief-7-1"] * (rank > 1),
        *["procedure-7"] * (rank > 2),
    ]
    assert closed(found) == (("m1",) if rank > 1 else ())
    assert (len(found.questions), len(reflections(found))) == ((2, 1) if rank > 2 else (0, 0))
    assert found.of(New)[0].memory.flashbulb is (rank > 2)
    assert not any(each.memory.flashbulb for each in found.of(New)[1:])
    assert bool(edges(found, EdgeType.REMINDS_OF)) is bool(edges(found, EdgeType.ENABLES)) is (rank > 2)
    assert (found.known, found.origin, found.episode_id) == (3, Origin(SourceKind.CHAT, "t7"), "episode-7")


def test_what_is_told_of_it_is_what_is_written() -> None:
    before = known("m1"), known("m2", "Of today.", timestamp=AT, source_refs=("t7",))
    found = planned_response(
        understood(Level.PARADIGM_SHIFT, update("m1", "I live in Paris.")), index(*((m, EAST) for m in before)), 0
    )
    told = {action.kind: action for action in response(found).actions}
    assert told["start_episode"].episode_ids == (found.episode_id,)
    assert told["extract_facts"].fact_count == len(found.of(Fact))
    assert told["update_beliefs"].episode_ids == tuple(r.new_id for r in response(found).revisions) == ("belief-7-1",)
    assert told["flashbulb"].episode_ids == ("episode-7", *flashbulbs(found)) == ("episode-7", "m2")
    assert [("episode-7", i) for i in told["connect_prior"].episode_ids] == edges(found, EdgeType.REMINDS_OF)
    assert told["queue_questions"].questions == tuple(question.text for question in found.questions)
    assert told["self_reflect"].reflection == reflections(found)[0].text
    assert (response(found).level, response(found).signal) == (Level.PARADIGM_SHIFT, 0.95)


def test_ids_are_of_the_turn_so_that_a_second_plan_is_the_same() -> None:
    given = understood(Level.PARADIGM_SHIFT, update("m1", "I live in Paris."))
    assert repr(planned_response(given, index((known("m1"), EAST)), 0)) == repr(
        planned_response(given, index((known("m1"), EAST)), 0)
    )
    found = planned_response(given, index(), 0)
    assert [fact.id for fact in found.of(Fact)[:2]] == ["fact-7-1", "fact-7-2"]
    assert [question.id for question in found.questions] == ["question-7-1", "question-7-2"]
    assert [each.id for each in reflections(found)] == ["reflection-7-1"]


# Beliefs shown


def test_what_formation_ended_by_the_message_is_a_prior_of_its_surprise() -> None:
    """It is recorded, so that a verdict can undo it; the memory of the message takes its place, and they are linked."""
    ended = known("m1", reliability=Reliability.SUPERSEDED, invalid_at=AT)
    said = known("m2", "Ann moved to Paris.", source_refs=("t7",), timestamp=AT, quote="We moved to Paris!")
    shown = index((ended, AWAY), (said, UP))
    assert [belief.id for belief in beliefs_near(EAST, understood().job, shown)] == ["m1"]
    found = planned_response(understood(Level.COGNITIVE_DISSONANCE, update("m1", "We moved to Paris!")), shown, 3)
    (revision,) = response(found).revisions
    assert (revision.prior_id, revision.new_id) == ("m1", "m2")
    assert edges(found, EdgeType.TEMPORAL_EVOLUTION) == []


def test_beliefs_shown_are_prior_and_held_and_the_students() -> None:
    shown = index(
        (known("held"), towards(0.9)),
        (known("nearer"), towards(0.95)),
        (known("superseded", reliability=Reliability.SUPERSEDED), EAST),
        (known("closed", invalid_at=EARLIER), EAST),
        (known("of this message", source_refs=("t0", "t7")), EAST),
        (known("later", timestamp=AT + timedelta(seconds=1)), EAST),
        (known("an episode", kind=MemoryKind.EPISODE), EAST),
        (known("of somebody else", speaker="Julia"), EAST),
        (known("p", "Ask first.", modality=Modality.PROCEDURAL, role=MemoryRole.PROCEDURE), EAST),
        (
            known("own procedure", "I add tens first.", kind=MemoryKind.CONCEPT, modality=Modality.PROCEDURAL),
            towards(0.8),
        ),
        (known("far"), towards(0.1)),
    )
    found = beliefs_near(EAST, understood().job, shown)
    assert [belief.id for belief in found] == ["nearer", "held", "own procedure"]


def test_only_the_nearest_beliefs_are_shown() -> None:
    many = index(*((known(f"m{i:02}"), towards(1 - i / 100)) for i in range(30)))
    assert [b.id for b in beliefs_near(EAST, understood().job, many)] == [f"m{i:02}" for i in range(BELIEFS)]


# Belief updates


@pytest.mark.parametrize("evolution", [True, False])
def test_a_change_evolves_and_a_correction_refines(evolution: bool) -> None:
    found = planned_response(
        understood(Level.PARADIGM_SHIFT, update("m1", "I live in Paris.", evolution=evolution)),
        index((known("m1"), EAST)),
        0,
    )
    assert edges(found, EdgeType.TEMPORAL_EVOLUTION) == ([("m1", "belief-7-1")] if evolution else [])
    assert edges(found, EdgeType.REFINES) == ([] if evolution else [("belief-7-1", "m1")])
    new = found.of(New)[1].memory
    assert (new.content, new.kind, new.valid_at, new.invalid_at) == ("I live in Paris.", MemoryKind.TRAIT, AT, None)
    assert (new.confidence, new.source_refs, found.of(New)[1].span) == (0.8, ("t7",), Span(0, 4))


def test_an_assumption_that_was_no_belief_closes_nothing() -> None:
    found = planned_response(understood(Level.PARADIGM_SHIFT, update(None, "I live in Paris.")), index(), 0)
    assert closed(found) == ()
    assert edges(found, EdgeType.REFINES) == edges(found, EdgeType.TEMPORAL_EVOLUTION) == []
    assert [revision.new_id for revision in response(found).revisions] == ["belief-7-1"]


@pytest.mark.parametrize("changes", [{"content_hash": "hash of I live in Paris."}, {"content": "I live in Paris"}])
def test_what_is_remembered_already_is_used(changes: dict[str, Any]) -> None:
    twin = known("m2", **changes)
    found = planned_response(
        understood(Level.PARADIGM_SHIFT, update("m1", "I live in Paris.")),
        index((known("m1"), EAST), (twin, UP)),
        0,
    )
    assert edges(found, EdgeType.TEMPORAL_EVOLUTION) == [("m1", "m2")]
    assert [each.memory.id for each in found.of(New)] == ["episode-7", "procedure-7"]
    assert (closed(found), believed(found)) == (("m1",), ())


def test_what_happened_becomes_a_belief_where_it_is_the_new_understanding() -> None:
    said = known("m2", "I live in Paris", kind=MemoryKind.EPISODE, timestamp=AT, source_refs=("t7",))
    found = planned_response(understood(Level.PARADIGM_SHIFT, update(None, "I live in Paris.")), index((said, UP)), 0)
    assert believed(found) == (("m2", MemoryKind.TRAIT),)


@pytest.mark.parametrize(
    "changes",
    [
        {"content": "I live in Paris with 2 cats."},
        {"content": "I don't live in Paris."},
        {"speaker": "Julia"},
        {"invalid_at": EARLIER},
        {"reliability": Reliability.SUPERSEDED},
        {"role": MemoryRole.EPISODE},
    ],
)
def test_what_only_sounds_alike_is_not_used(changes: dict[str, Any]) -> None:
    near = known(**({"memory_id": "m2", "content": "I live in Paris"} | changes))
    found = planned_response(understood(Level.PARADIGM_SHIFT, update(None, "I live in Paris.")), index((near, UP)), 0)
    assert [revision.new_id for revision in response(found).revisions] == ["belief-7-1"]


def test_a_belief_that_only_sounds_like_the_new_one_still_gives_way_to_it() -> None:
    prior = known("m1", "I live in Rome"), UP
    found = planned_response(understood(Level.PARADIGM_SHIFT, update("m1", "I live in Paris.")), index(prior), 0)
    assert (closed(found), edges(found, EdgeType.TEMPORAL_EVOLUTION)) == (("m1",), [("m1", "belief-7-1")])


def test_a_belief_that_says_the_very_same_is_no_update() -> None:
    prior = known("m1", content_hash="hash of I live in Paris."), EAST
    found = planned_response(understood(Level.PARADIGM_SHIFT, update("m1", "I live in Paris.")), index(prior), 0)
    assert (closed(found), response(found).revisions) == ((), ())
    assert [each.memory.id for each in found.of(New)] == ["episode-7", "procedure-7"]


@pytest.mark.parametrize("changes", [{"invalid_at": EARLIER}, {"reliability": Reliability.SUPERSEDED}])
def test_a_belief_that_holds_no_longer_is_not_closed_again(changes: dict[str, Any]) -> None:
    prior = known("m1", **changes), EAST
    for held in (index(prior), index()):
        found = planned_response(understood(Level.PARADIGM_SHIFT, update("m1", "I live in Paris.")), held, 0)
        assert closed(found) == ()
        assert [(r.prior_id, r.new_id) for r in response(found).revisions] == [(None, "belief-7-1")]
        assert not any("m1" in (edge.from_id, edge.to_id) for edge in found.of(NewEdge))


def test_what_holds_no_longer_can_be_said_anew_beside_it() -> None:
    """No two memories of a student have one hash."""
    old = known("m0", content_hash="hash of I live in Paris.", invalid_at=EARLIER)
    found = planned_response(
        understood(Level.PARADIGM_SHIFT, update("m1", "I live in Paris.")), index((old, UP), (known("m1"), EAST)), 0
    )
    (_, new, _) = found.of(New)
    assert new.memory.content_hash == "own hash of I live in Paris."
    old_procedure = known("m0", "Ask first.", content_hash="hash of Ask first.", invalid_at=EARLIER)
    found = planned_response(understood(), index((old_procedure, UP)), 0)
    assert found.of(New)[-1].memory.content_hash == "own hash of Ask first."


def test_two_updates_to_one_understanding_make_one_memory() -> None:
    updates = update("m1", "I live in Paris."), update("m2", "I live in Paris."), update(None, "I live in Paris.")
    for old in ((), ((known("m0", content_hash="hash of I live in Paris.", invalid_at=EARLIER), UP),)):
        held = index((known("m1"), EAST), (known("m2"), NORTH), *old)
        found = planned_response(understood(Level.PARADIGM_SHIFT, *updates), held, 0)
        assert [each.memory.id for each in found.of(New)] == ["episode-7", "belief-7-1", "procedure-7"]
        assert [revision.new_id for revision in response(found).revisions] == ["belief-7-1"] * 3
        assert closed(found) == ("m1", "m2")


# Links and flashbulbs


def test_the_nearest_prior_memories_are_linked() -> None:
    near = [(known(f"m{i}", f"Memory {i}."), towards(0.9 - i / 20)) for i in range(8)]
    other = [
        (known("opposite"), -EAST),
        (known("closed", invalid_at=EARLIER), EAST),
        (known("later", timestamp=AT + timedelta(seconds=1)), EAST),
        (known("of this message", timestamp=AT, source_refs=("t7",)), EAST),
    ]
    found = planned_response(understood(), index(*near, *other), 0)
    assert edges(found, EdgeType.REMINDS_OF) == [("episode-7", f"m{i}") for i in range(LINKED)]
    weights = [edge.weight for edge in found.of(NewEdge) if edge.type is EdgeType.REMINDS_OF]
    assert weights == sorted(weights, reverse=True)
    assert all(0 < weight <= 1 for weight in weights)
    assert flashbulbs(found) == ("of this message",)


def test_a_shift_finds_its_own_message_however_much_was_said_since() -> None:
    since = [(known(f"m{i}", timestamp=AT + timedelta(minutes=i)), NORTH) for i in range(1, 200)]
    own = known("own", timestamp=AT, source_refs=("t7",)), EAST
    again = known("again", timestamp=EARLIER, source_refs=("t1", "t7")), EAST
    assert set(flashbulbs(planned_response(understood(), index(*since, own, again), 0))) == {"own", "again"}


# Anything


CONTENTS = st.sampled_from(["I live in Rome.", "I live in Paris.", "I don't live in Rome.", "Ask first.", "7 x 8 = 56"])
PLACES = st.floats(-1, 1, width=32).map(towards)


@st.composite
def lives(draw: st.DrawFn) -> tuple[Understood, SearchIndex]:
    """Whatever may be remembered and found out."""
    held = index()
    for i in range(draw(st.integers(0, 8))):
        content = draw(CONTENTS)
        made = known(
            f"m{i}",
            content,
            # As in the graph, no two memories have one hash.
            content_hash=f"hash of {content}" if held.find(f"hash of {content}") is None else f"hash {i}",
            kind=draw(st.sampled_from(MemoryKind)),
            reliability=draw(st.sampled_from(Reliability)),
            invalid_at=draw(st.sampled_from([None, EARLIER])),
            timestamp=draw(st.sampled_from([EARLIER, AT, AT + timedelta(days=1)])),
            source_refs=draw(st.sampled_from([("t1",), ("t7",), ("t1", "t7")])),
            speaker=draw(st.sampled_from([None, None, "Julia"])),
        )
        held.put(made, draw(PLACES))
    priors = st.sampled_from([None, *(f"m{i}" for i in range(10))])
    updates = draw(st.lists(st.builds(update, priors, CONTENTS, evolution=st.booleans()), max_size=4))
    vectors = {content: draw(PLACES) for content in ("I live in Rome.", "I live in Paris.")}
    given = understood(draw(st.sampled_from(LEVELS)), *updates, vector=draw(PLACES))
    return replace(given, updates=tuple(worded(u.new, vectors.get(u.new, UP)) for u in updates)), held


@given(lives())
def test_any_plan_fits_the_graph(life: tuple[Understood, SearchIndex]) -> None:
    given_, held = life
    found = planned_response(given_, held, 1)
    level = given_.job.level
    new = {each.memory.id: each.memory for each in found.of(New)}
    assert len(new) == len(found.of(New))
    # No two memories have one hash, and no edge leads to itself or to what is not there.
    hashes = [each.content_hash for each in new.values()]
    assert len(set(hashes)) == len(hashes)
    assert all(held.find(each) is None for each in hashes)
    for edge in found.of(NewEdge):
        assert edge.from_id != edge.to_id
        assert {edge.from_id, edge.to_id} <= {*new, *(m.id for m in held.latest(len(held)))}
        assert 0 < edge.weight <= 1
    assert len(edges(found, EdgeType.REMINDS_OF)) <= LINKED
    assert len(found.of(Fact)) <= MOST_FACTS[level]
    # Only what held is closed, and what takes its place holds.
    for prior in closed(found):
        memory_ = held.get(prior)
        assert memory_ is not None
        assert responding._still_holds(memory_)
    assert len(set(closed(found))) == len(closed(found))
    for revision in response(found).revisions:
        assert revision.new_id != revision.prior_id
        assert revision.prior_id in {None, *closed(found)}
        successor = new.get(revision.new_id) or held.get(revision.new_id)
        assert successor is not None
        # What a message said that came late may be past already.
        late = any(given_.job.turn_id in m.source_refs and m.invalid_at for m in held.latest(len(held)))
        assert successor.invalid_at is None or late
        assert successor.kind in responding.BELIEVED or revision.new_id in dict(believed(found))
    if level not in SHAKEN:
        assert (closed(found), response(found).revisions, believed(found)) == ((), (), ())
