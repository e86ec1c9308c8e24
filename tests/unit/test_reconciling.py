"""A drift cycle: what it looks at, and what follows from how two statements stand to each other."""

from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.flows.uncertainty_plan import (
    FEWEST,
    MOST,
    MOST_PAIRS,
    Rival,
    candidates,
    claim_of,
    cycle_size,
    reconciled,
    sampled,
)
from graphmem.model import (
    Domain,
    Effect,
    Memory,
    MemoryRole,
    Reliability,
    Resolution,
    UncertaintyState,
)
from graphmem.search.index import SearchIndex
from graphmem.store.changes import Changes, NewEdge, Update
from graphmem.text.revision import PairVerdict
from tests.support.doubting import Judging, doubt, judged_by
from tests.support.memories import NOW, memory

DIMENSION = 8


def index_of(memories: Sequence[Memory], vectors: Sequence[int] | None = None) -> SearchIndex:
    """An index in which memories with the same number are alike, and others have nothing in common."""
    index = SearchIndex(DIMENSION)
    places = vectors or range(len(memories))
    index.put_many(memories, np.eye(DIMENSION, dtype=np.float32)[[place % DIMENSION for place in places]])
    return index


ENDS, CONTRADICTS = PairVerdict(Effect.ENDS, 0.9), PairVerdict(Effect.CONTRADICTS, 0.9)
OLD = memory("old", "I live in Rome.", timestamp=NOW - timedelta(days=9))
NEW = memory("new", "I live in Paris.", timestamp=NOW - timedelta(days=2))


def rival(told: Memory) -> Rival:
    return Rival(told, claim_of(told, np.eye(DIMENSION, dtype=np.float32)[0]), None)


def after(verdict: PairVerdict, old: Memory = OLD, new: Memory = NEW, tolerance: float = 0.5) -> Changes:
    with judged_by(Judging(verdict)):
        return Changes(3, "drift", reconciled([(rival(old), rival(new))], NOW, tolerance))


@given(st.floats(0.2, 0.8), st.integers(0, 50), st.integers(1, 60))
def test_a_cycle_looks_at_few_memories_whatever_there_is(tolerance: float, cycle: int, count: int) -> None:
    index = index_of([memory(f"m{i}", timestamp=NOW - timedelta(days=i)) for i in range(count)])
    sample = sampled(index, cycle, tolerance, NOW)
    assert len(sample) == min(count, cycle_size(tolerance))
    assert FEWEST <= cycle_size(tolerance) <= MOST
    assert sample == sampled(index, cycle, tolerance, NOW)
    assert len(candidates(sample, index, ())) <= MOST_PAIRS


def test_domains_take_turns() -> None:
    memories = [memory(f"{domain}-{i}", domain=domain) for domain in Domain for i in range(15)]
    index = index_of(memories)
    first = [{m.domain for m in sampled(index, cycle, 0.5, NOW)} for cycle in range(len(Domain))]
    assert first == [{domain} for domain in Domain]


def test_what_was_changed_or_used_lately_comes_first() -> None:
    memories = [memory(f"m{i:02}", timestamp=NOW - timedelta(days=100 + i)) for i in range(40)]
    memories[38] = memory("used", timestamp=NOW - timedelta(days=200), access_count=9)
    memories[39] = memory("said again", timestamp=NOW - timedelta(days=200), last_reinforced_at=NOW)
    assert {m.id for m in sampled(index_of(memories), 0, 0.8, NOW)} >= {"used", "said again"}


@pytest.mark.parametrize(
    "other",
    [
        memory("b", speaker="Eve"),
        memory("b", invalid_at=NOW),
        memory("b", reliability=Reliability.CONTRADICTED),
        memory("b", role=MemoryRole.EPISODE),
    ],
)
def test_only_what_could_take_anothers_place_is_compared(other: Memory) -> None:
    a = memory("a")
    assert [new.memory.id for _, new in candidates([a], index_of([a, memory("b")], [0, 0]), ())] == ["b"]
    assert candidates([a], index_of([a, other], [0, 0]), ()) == []
    assert candidates([a], index_of([a, memory("b")], [0, 1]), ()) == []
    assert candidates([a], index_of([a, memory("b")], [0, 0]), [doubt(memory("b"), a)]) == []


def test_one_slot_is_compared_however_it_is_said() -> None:
    a, b = (memory(name, slot_key="home") for name in ("a", "b"))
    (pair,) = candidates([a], index_of([a, b], [0, 1]), ())
    assert {each.memory.id for each in pair} == {"a", "b"}


def test_what_has_changed_is_superseded_without_a_word() -> None:
    changes = after(ENDS)
    (recorded,) = changes.doubts
    assert (recorded.uncertainty.state, recorded.uncertainty.resolution) == (
        UncertaintyState.RESOLVED,
        Resolution.TEMPORAL_SUPERSEDE,
    )
    values = {update.memory_id: update.values for update in changes.of(Update)}
    assert values["old"]["reliability"] is Reliability.SUPERSEDED
    assert values["new"]["reliability"] is Reliability.RELIABLE
    assert [each.memory_id for each in recorded.undo.memories] == ["new", "old"]
    assert changes.ended == ("old",)


def test_what_was_said_again_since_is_not_ended() -> None:
    wrongly_ended = memory("old", timestamp=NOW - timedelta(days=9), last_reinforced_at=NOW - timedelta(days=1))
    changes = after(ENDS, old=wrongly_ended)
    assert (changes.of(Update), changes.doubts) == ((), ())
    before = memory("old", timestamp=NOW - timedelta(days=9), last_reinforced_at=NOW - timedelta(days=3))
    assert after(ENDS, old=before).ended == ("old",)


def test_a_contradiction_leaves_both_in_doubt() -> None:
    changes = after(CONTRADICTS)
    assert {update.values["reliability"] for update in changes.of(Update)} == {Reliability.CONTRADICTED}
    assert [each.uncertainty.state for each in changes.doubts] == [UncertaintyState.OPEN]
    assert changes.ended == ()


def test_what_was_said_outweighs_what_was_inferred() -> None:
    inferred = memory("old", role=MemoryRole.BELIEF, timestamp=NOW - timedelta(days=9))
    changes = after(CONTRADICTS, old=inferred)
    values = {update.memory_id: update.values["reliability"] for update in changes.of(Update)}
    assert values == {"old": Reliability.UNCERTAIN, "new": Reliability.RELIABLE}
    explicit = after(ENDS, new=memory("new", role=MemoryRole.BELIEF))
    assert explicit.ended == ()


@pytest.mark.parametrize(("tolerance", "settles"), [(0.2, False), (0.5, True), (0.8, True)])
def test_more_than_twice_the_evidence_settles_it(tolerance: float, settles: bool) -> None:
    said_again = memory("old", reinforcement_count=3, confidence=0.54, timestamp=NOW - timedelta(days=9))
    changes = after(CONTRADICTS, old=said_again, tolerance=tolerance)
    assert (changes.ended == ("new",)) is settles


@pytest.mark.parametrize("effect", [None, Effect.SAME, Effect.REFINES, Effect.OUTDATES])
def test_what_neither_ends_nor_contradicts_keeps_both(effect: Effect | None) -> None:
    changes = after(PairVerdict(effect))
    assert (changes.of(Update), changes.doubts, changes.of(NewEdge)) == ((), (), ())


def test_no_memory_is_changed_twice() -> None:
    third = memory("third", timestamp=NOW - timedelta(days=1))
    pairs = [(rival(OLD), rival(NEW)), (rival(NEW), rival(third))]
    with judged_by(Judging(CONTRADICTS)):
        changes = Changes(3, "drift", reconciled(pairs, NOW, 0.5))
    assert {update.memory_id for update in changes.of(Update)} == {"old", "new"}
    assert len(changes.doubts) == 1
