"""Ranking and gravity: ranges, invariants, and the values of spec 9 and 10."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import InvalidInput
from graphmem.maths.gravity import boosted, gravity, speed
from graphmem.model import Reliability
from graphmem.search import scoring as ranking

UNIT = st.floats(0, 1)
DAYS = st.floats(0, 4000)
SPEEDS = st.sampled_from([speed(reliability) for reliability in Reliability])
SCORES = st.lists(st.floats(-1, 1), max_size=12).map(np.array)


@given(UNIT, DAYS, UNIT, SPEEDS)
def test_gravity_stays_between_residue_and_last_value(last: float, days: float, salience: float, s: float) -> None:
    value = gravity(last, days, salience=salience, speed=s)
    assert 0.1 * salience <= value <= max(last, 0.1 * salience)


@given(UNIT, DAYS, DAYS, UNIT, SPEEDS)
def test_gravity_never_rises_with_time_and_asking_changes_nothing(
    last: float, days: float, more: float, salience: float, s: float
) -> None:
    now = gravity(last, days, salience=salience, speed=s)
    assert gravity(last, days, salience=salience, speed=s) == now
    assert gravity(last, days + more, salience=salience, speed=s) <= now


@given(UNIT, DAYS, UNIT)
def test_the_less_reliable_fades_faster_and_the_lasting_not_at_all(last: float, days: float, salience: float) -> None:
    values = [gravity(last, days, salience=salience, speed=speed(reliability)) for reliability in Reliability]
    assert values == sorted(values, reverse=True)
    kept = gravity(last, days, salience=salience, speed=speed(Reliability.SUPERSEDED, lasting=True))
    assert kept == max(last, 0.1 * salience)


@pytest.mark.parametrize(
    ("reliability", "days"), [("reliable", 14.0), ("uncertain", 28 / 3), ("contradicted", 7.0), ("superseded", 14 / 3)]
)
def test_two_half_lives_leave_a_quarter(reliability: Reliability, days: float) -> None:
    assert gravity(1.0, days, salience=1.0, speed=speed(Reliability(reliability))) == pytest.approx(0.25)


def test_days_before_the_last_access_are_refused() -> None:
    with pytest.raises(InvalidInput, match="negative"):
        gravity(1.0, -1.0, salience=1.0, speed=1.0)


@given(UNIT)
def test_being_used_gives_back_a_tenth_of_what_is_missing(now: float) -> None:
    assert boosted(now) == pytest.approx(now + (1 - now) / 10)
    assert now <= boosted(now) <= 1


@given(SCORES)
def test_scaling_keeps_the_order_and_ends_at_one(scores: ranking.Scores) -> None:
    values = ranking.scaled(scores)
    assert values.max(initial=0.0) == (1.0 if scores.max(initial=0.0) > 0 else 0.0)
    assert values.min(initial=0.0) == 0.0
    assert np.all(np.diff(values[np.argsort(scores)]) >= 0)


@given(st.integers(0, 50), st.integers(0, 50), st.floats(1, 100), st.floats(1, 100))
def test_more_of_a_word_and_a_shorter_text_never_count_less(few: int, more: int, length: float, longer: float) -> None:
    counts, lengths = np.array([few, few + more]), np.array([length, length])
    values = ranking.bm25(counts, lengths, 10.0)
    assert 0 <= values[0] <= values[1] < ranking.SATURATION + 1
    assert ranking.bm25(counts, lengths + longer, 10.0)[0] <= values[0]


def test_what_is_around_is_the_cosine_with_the_mixed_vector() -> None:
    rows = np.random.default_rng(7).normal(size=(6, 5))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    question, places = rows[5], np.array([-1, 0, 1, -1, 3, -1])
    likeness = np.array([0.0 if p < 0 else rows[i] @ rows[p] for i, p in enumerate(places)])
    mixed = np.array([rows[i] if p < 0 else rows[i] + 0.7 * rows[p] for i, p in enumerate(places)])
    expected = mixed @ question / np.linalg.norm(mixed, axis=1)
    assert ranking.surrounding(rows @ question, likeness, places, 0.7) == pytest.approx(expected)


@given(st.lists(UNIT, max_size=10), UNIT, st.integers(0, 12))
def test_mmr_shows_each_at_most_once(relevance: list[float], trade: float, limit: int) -> None:
    vectors = np.random.default_rng(1).normal(size=(len(relevance), 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    order = ranking.mmr(np.array(relevance), vectors, trade, limit)
    assert len(order) == len(set(order)) == min(limit, len(relevance))
    assert set(order) <= set(range(len(relevance)))


@given(st.lists(UNIT, max_size=10, unique=True))
def test_mmr_without_trade_is_the_order_of_relevance(relevance: list[float]) -> None:
    vectors = np.ones((len(relevance), 1), dtype=np.float32)
    order = ranking.mmr(np.array(relevance), vectors, 1.0, len(relevance))
    assert [relevance[place] for place in order] == sorted(relevance, reverse=True)


@given(st.lists(st.integers(0, 50), max_size=12), st.integers(0, 200))
def test_what_fits_stays_in_the_budget_and_nothing_left_out_would_fit(costs: list[int], budget: int) -> None:
    kept = ranking.fitting(costs, budget)
    spent = sum(costs[place] for place in kept)
    assert kept == sorted(set(kept))
    assert spent <= budget
    assert all(costs[place] > budget - spent for place in range(len(costs)) if place not in kept)


@given(UNIT, UNIT, UNIT, st.sampled_from(Reliability))
def test_a_weight_grows_with_relevance_and_gravity(
    relevance: float, present: float, more: float, reliability: Reliability
) -> None:
    value = ranking.weight(relevance, present, reliability)
    assert 0 <= value <= 1
    assert ranking.weight(min(1.0, relevance + more), present, reliability) >= value
    assert ranking.weight(relevance, min(1.0, present + more), reliability) >= value


def test_an_old_fitting_memory_outweighs_a_fresh_vague_one() -> None:
    old = ranking.weight(0.9, 0.05, Reliability.RELIABLE)
    assert old > ranking.weight(0.6, 1.0, Reliability.RELIABLE)


def test_the_reliability_factors_are_those_of_the_specification() -> None:
    weights = [ranking.weight(1.0, 1.0, reliability) for reliability in Reliability]
    assert weights == pytest.approx([1.0, 0.6, 0.4, 0.3])
