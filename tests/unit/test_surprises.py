"""Analysis of surprising messages without a model: which beliefs end, and nothing asked or added."""

from datetime import UTC, datetime

import pytest

from graphmem.model import Belief, Level, MemoryKind, Strategy, Surprising
from graphmem.offline.surprise import analysed

AT = datetime(2026, 1, 5, tzinfo=UTC)


def surprising(actual: str, *beliefs: str, level: Level = Level.COGNITIVE_DISSONANCE) -> Surprising:
    known = tuple(Belief(f"memory-{i}", text, MemoryKind.TRAIT, 0.9) for i, text in enumerate(beliefs))
    return Surprising(level, 0.9, 0.1, "Yes", actual, known)


@pytest.mark.parametrize(
    ("actual", "belief", "ends"),
    [
        ("We moved to Leeds.", "i live in Hamburg", True),
        ("I don't hate decimals any more!", "I hate decimals", True),
        ("my cat had kittens", "i live in Hamburg", False),
    ],
)
def test_belief_ended_by_the_pair_network(actual: str, belief: str, ends: bool) -> None:
    (found,) = analysed([surprising(actual, belief)])
    assert [(each.prior_id, each.new) for each in found.updates] == ([("memory-0", actual)] if ends else [])
    assert found.strategy is (Strategy.CONNECT_PRIOR if ends else Strategy.DEEP_EXTRACTION)


def test_nothing_is_asked_nor_reflected_on() -> None:
    (found,) = analysed([surprising("my parents are splitting up", level=Level.PARADIGM_SHIFT)])
    assert (found.questions, found.reflection, found.facts) == ((), None, ())


def test_normal_message_needs_no_strategy() -> None:
    (found,) = analysed([surprising("ok", level=Level.NORMAL)])
    assert found.strategy is Strategy.NONE
