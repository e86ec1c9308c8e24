"""How familiar a concept is after what practice."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from graphmem.flows.overlay import FADED_RECALL, fades_at, familiarity_at, retained, trend_at
from graphmem.model import Practice, PracticeOutcome

START = datetime(2026, 1, 1, tzinfo=UTC)
END = START + timedelta(days=400)
ONE = st.builds(
    Practice,
    at=st.integers(0, 400).map(lambda days: START + timedelta(days=days)),
    outcome=st.sampled_from(PracticeOutcome),
    set_to=st.none() | st.floats(0, 1),
)
HISTORY = st.lists(ONE, max_size=12)


@given(HISTORY, st.integers(0, 3000))
def test_familiarity_lies_between_0_and_1_and_falls_with_time(history: list[Practice], days: int) -> None:
    held, at = retained(history), END + timedelta(days=days)
    assert 0.0 <= familiarity_at(held, at + timedelta(days=30)) <= familiarity_at(held, at) <= 1.0
    assert -1.0 <= trend_at(history, at) <= 1.0


@given(HISTORY)
def test_success_makes_more_familiar_and_failure_less_of_a_master(history: list[Practice]) -> None:
    now = END + timedelta(days=1)
    before = retained(history)
    better = retained([*history, Practice(now, PracticeOutcome.GOOD)])
    worse = retained([*history, Practice(now, PracticeOutcome.AGAIN)])
    assert better is not None
    assert worse is not None
    assert familiarity_at(better, now) >= familiarity_at(before, now)
    assert better.stability >= worse.stability
    assert worse.mastery <= (0.0 if before is None else before.mastery)


@given(st.lists(ONE, max_size=8, unique_by=lambda practice: practice.at), st.randoms(use_true_random=False))
def test_the_order_in_which_practice_is_told_is_all_one(history: list[Practice], chance: object) -> None:
    shuffled = list(history)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert retained(shuffled) == retained(history)


def test_practice_that_is_spread_lasts_longer_than_practice_at_once() -> None:
    spread = retained([Practice(START + timedelta(days=3 * i), PracticeOutcome.GOOD) for i in range(4)])
    at_once = retained([Practice(START + timedelta(hours=i), PracticeOutcome.GOOD) for i in range(4)])
    assert spread is not None
    assert at_once is not None
    assert spread.stability > at_once.stability


@given(HISTORY)
def test_the_day_it_fades_is_the_first_on_which_recall_is_below_the_bound(history: list[Practice]) -> None:
    held = retained(history)
    if held is not None:
        sure, day = replace(held, mastery=1.0), timedelta(days=1)
        assert familiarity_at(sure, fades_at(held) - day) >= FADED_RECALL
        assert familiarity_at(sure, fades_at(held)) < FADED_RECALL or held.stability > 1_000
