"""Values and properties of the formulas of spec 4 to 6."""

from dataclasses import astuple, replace
from datetime import UTC, datetime
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.maths import features, importance, surprise
from graphmem.model import Correction, Fact, Level, Verdict
from graphmem.text import matching
from graphmem.text.doc import Doc

UNIT = st.floats(0, 1)
FEATURES = st.builds(importance.Features, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT)
TEMPERATURES = st.sampled_from([0.5, 2.0])
AT = datetime(2026, 1, 1, tzinfo=UTC)
CORRECTIONS = st.lists(
    st.builds(Correction, UNIT, st.sampled_from(list(Level)), st.sampled_from(list(Verdict))), max_size=30
)
SIGNALS = st.lists(UNIT, max_size=80)


def fact(seq: int, text: str, *tags: str) -> Fact:
    return Fact(f"fact-{seq}", seq, text, tags, AT)


@given(st.text(max_size=80), st.text(max_size=80), st.floats(-1, 1))
def test_a_match_is_never_below_the_similarity_and_stays_in_range(predicted: str, actual: str, cosine: float) -> None:
    value = matching.match(predicted, actual, cosine)
    assert max(0.0, cosine) <= value <= 1.0


def test_a_match_takes_the_kinder_of_spelling_and_meaning() -> None:
    assert matching.match("abcd", "wxyz", 0.61) == pytest.approx(0.61)
    assert matching.match("I added five", "I added five!", 0.1) == 1.0
    assert matching.match("abcd", "wxyz", -0.5) == 0.0


def test_facts_are_retrieved_best_first_and_ties_newest_first() -> None:
    facts = [fact(i, "The student mixes up area and perimeter.", "area") for i in range(1, 15)]
    found = matching.retrieve(facts, ["area"])
    assert [f.seq for f in found] == list(range(14, 4, -1))


def test_a_tag_can_find_a_fact_whose_text_does_not() -> None:
    facts = [fact(1, "Wanted to talk about something else.", "pony riding"), fact(2, "Likes maths.", "maths")]
    assert matching.retrieve(facts, ["pony riding"])[0].seq == 1


def test_no_needs_or_no_facts_find_nothing() -> None:
    assert matching.retrieve([fact(1, "x", "y")], []) == []
    assert matching.retrieve([fact(1, "x", "y")], ["", " !"]) == []
    assert matching.retrieve([], ["area"]) == []


@given(FEATURES, TEMPERATURES)
def test_importance_stays_in_range(values: importance.Features, temperature: float) -> None:
    assert 0.0 <= importance.importance(values, temperature) <= 1.0


@given(FEATURES, TEMPERATURES, st.sampled_from(list(importance.Features.__annotations__)), UNIT)
def test_importance_never_falls_when_a_feature_rises(
    values: importance.Features, temperature: float, name: str, more: float
) -> None:
    higher = replace(values, **{name: max(more, getattr(values, name))})
    assert importance.importance(higher, temperature) >= importance.importance(values, temperature) - 1e-12


@given(FEATURES, TEMPERATURES)
def test_importance_follows_its_formula(values: importance.Features, temperature: float) -> None:
    def lme(xs: list[float]) -> float:
        return temperature * log(sum(exp(x / temperature) for x in xs) / len(xs))

    weights = list(astuple(importance.FEATURE_WEIGHTS))
    scaled = [w * f for w, f in zip(weights, astuple(values), strict=True)]
    expected = max(0.0, lme(scaled) / lme(weights)) ** 0.6
    assert importance.importance(values, temperature) == pytest.approx(expected, abs=1e-5)


@given(FEATURES, TEMPERATURES)
def test_attention_is_the_gradient_of_the_smooth_maximum(values: importance.Features, temperature: float) -> None:
    parts = importance.attention(values, temperature)
    assert sum(p.weight for p in parts) == pytest.approx(1.0)
    assert [p.feature for p in parts] == list(importance.Features.__annotations__)


@pytest.mark.parametrize(("rate", "expected"), [(0.5, 0.348), (2, 0.391), (5, 0.55), (10, 0.762)])
def test_thresholds_of_the_specification(rate: float, expected: float) -> None:
    assert importance.threshold(rate) == pytest.approx(expected, abs=0.0005)


def test_temperature_changes_above_seven_tenths() -> None:
    assert (importance.temperature(0.7), importance.temperature(0.71)) == (0.5, 2.0)


@pytest.mark.parametrize(
    ("signal", "level"),
    [
        (0.0, Level.NORMAL),
        (0.6499, Level.NORMAL),
        (0.65, Level.BOUNDARY),
        (0.8499, Level.BOUNDARY),
        (0.85, Level.COGNITIVE_DISSONANCE),
        (0.8999, Level.COGNITIVE_DISSONANCE),
        (0.90, Level.PARADIGM_SHIFT),
        (1.0, Level.PARADIGM_SHIFT),
    ],
)
def test_levels_begin_exactly_at_their_thresholds(signal: float, level: Level) -> None:
    assert surprise.level(signal) is level


def history(n: int) -> surprise.History:
    return surprise.History(np.tile(np.eye(4, dtype=np.float32)[0], (n, 1)), [10.0] * n, ["ann", "bob"] * n, [20] * n)


@pytest.mark.parametrize("known", range(5))
def test_everything_is_new_while_fewer_than_five_messages_are_known(known: int) -> None:
    few = surprise.History(np.zeros((known, 4), dtype=np.float32), [], ["ann"] * known, [])
    assert surprise.message_surprise(few, np.eye(4, dtype=np.float32)[0], 0.0, "ann", 5) == 0.8


def test_each_part_of_surprise_has_its_weight() -> None:
    same, other = np.eye(4, dtype=np.float32)[0], np.eye(4, dtype=np.float32)[1]
    alone = surprise.History(np.tile(same, (10, 1)), [10.0] * 9, ["ann"] * 10, [18, 22] * 5)
    assert surprise.message_surprise(alone, same, 10.0, "ann", 20) == pytest.approx(0.0)
    assert surprise.message_surprise(alone, other, 10.0, "ann", 20) == pytest.approx(0.4)
    assert surprise.message_surprise(alone, same, 15.0, "ann", 20) == pytest.approx(0.1)
    assert surprise.message_surprise(alone, same, 10.0, "bob", 20) == pytest.approx(0.2)
    assert surprise.message_surprise(alone, same, 10.0, "ann", 22) == pytest.approx(0.1)


@given(st.floats(0, 1e6), st.integers(0, 32000), st.sampled_from(["ann", "bob", "eve"]), st.integers(5, 50))
def test_surprise_stays_in_range(gap: float, length: int, author: str, known: int) -> None:
    value = surprise.message_surprise(history(known), np.eye(4, dtype=np.float32)[2], gap, author, length)
    assert 0.0 <= value <= 1.0


@given(UNIT, st.none() | UNIT)
def test_the_signal_stays_in_range(message: float, match: float | None) -> None:
    assert 0.0 <= surprise.signal(message, match) <= 1.0


def test_what_is_out_of_the_ordinary_is_named() -> None:
    same, other = np.eye(4, dtype=np.float32)[0], np.eye(4, dtype=np.float32)[1]
    alone = surprise.History(np.tile(same, (10, 1)), [10.0] * 9, ["ann"] * 10, [18, 22] * 5)
    assert surprise.unusual(alone, same, 10.0, "ann", 20) == ()
    assert surprise.unusual(alone, other, 20.0, "bob", 25) == ("topic", "gap", "author", "length")
    few = surprise.History(alone.vectors[:4], [10.0] * 3, ["ann"] * 4, [20] * 4)
    assert surprise.unusual(few, other, 99.0, "bob", 999) == ()


def test_thresholds_adapt_from_fifty_signals_on() -> None:
    loud = [0.5 + i / 100 for i in range(50)]
    assert surprise.thresholds(loud[:49]) == dict(surprise.THRESHOLDS)
    found = surprise.thresholds(loud)
    assert list(found) == [Level.BOUNDARY, Level.COGNITIVE_DISSONANCE, Level.PARADIGM_SHIFT]
    assert list(found.values()) == pytest.approx([float(np.percentile(loud, p)) for p in (80, 95, 98)])
    assert surprise.thresholds([0.1] * 50) == dict(surprise.THRESHOLDS)


def test_a_level_begins_where_the_student_s_thresholds_say() -> None:
    own = {Level.BOUNDARY: 0.7, Level.COGNITIVE_DISSONANCE: 0.9, Level.PARADIGM_SHIFT: 0.95}
    levels = [surprise.level(signal, own) for signal in (0.69, 0.7, 0.9, 0.95)]
    assert levels == list(Level)


@pytest.mark.parametrize("signal", [0.9, 0.93, 0.96])
def test_what_is_called_unimportant_again_and_again_is_no_shift_any_more(signal: float) -> None:
    noise = [Correction(signal, Level.PARADIGM_SHIFT, Verdict.WAS_NOT_IMPORTANT)] * 4
    assert surprise.level(signal, surprise.thresholds([], noise[:0])) is Level.PARADIGM_SHIFT
    assert surprise.level(signal, surprise.thresholds([], noise)) is Level.COGNITIVE_DISSONANCE


def test_what_is_called_important_again_and_again_reaches_the_next_level() -> None:
    missed = [Correction(0.87, Level.COGNITIVE_DISSONANCE, Verdict.WAS_IMPORTANT)] * 4
    assert surprise.level(0.87, surprise.thresholds([], missed[:1])) is not Level.PARADIGM_SHIFT
    assert surprise.level(0.87, surprise.thresholds([], missed)) is Level.PARADIGM_SHIFT


@given(SIGNALS, CORRECTIONS)
def test_thresholds_keep_their_order_and_bounds(signals: list[float], corrections: list[Correction]) -> None:
    found = list(surprise.thresholds(signals, corrections).values())
    plain = list(surprise.thresholds(signals).values())
    assert found == sorted(found)
    for start, uncorrected, default in zip(found, plain, surprise.THRESHOLDS.values(), strict=True):
        assert default - 0.1 - 1e-12 <= start <= max(0.99, *plain, uncorrected) + 1e-12


@given(SIGNALS, CORRECTIONS, UNIT, st.sampled_from(list(Level)), st.sampled_from(list(Verdict)), st.integers(0, 30))
def test_a_verdict_moves_thresholds_one_way_only(
    signals: list[float], corrections: list[Correction], signal: float, level: Level, verdict: Verdict, place: int
) -> None:
    more = [*corrections[:place], Correction(signal, level, verdict), *corrections[place:]]
    before, after = surprise.thresholds(signals, corrections), surprise.thresholds(signals, more)
    for name in before:
        if verdict is Verdict.WAS_IMPORTANT:
            assert after[name] <= before[name] + 1e-12
        else:
            assert after[name] >= before[name] - 1e-12


@given(st.lists(st.floats(0, 10_000), max_size=30), st.floats(0, 10_000))
def test_only_the_last_ten_minutes_count(times: list[float], now: float) -> None:
    rate = features.messages_per_minute(times, now)
    talked = min(600.0, max(30.0, now - min(times, default=now)))
    assert rate == pytest.approx(sum(0 <= now - t < 600 for t in times) * 60 / talked)


def test_you_and_names_are_addresses() -> None:
    assert matching.addressed(Doc("Could YOU help?"), [])
    assert matching.addressed(Doc("ask the Companion"), ["Companion"])
    assert not matching.addressed(Doc("She is young."), ["Bello"])
