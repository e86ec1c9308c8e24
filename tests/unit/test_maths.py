"""Values and properties of the formulas of spec 4 to 6."""

from dataclasses import astuple, replace
from datetime import UTC, datetime
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.maths import importance, surprise
from graphmem.maths.surprise import ORDINARY, ORDINARY_SHARES
from graphmem.model import Correction, Fact, Level, Vector, Verdict
from graphmem.text import matching
from graphmem.text.doc import Doc

UNIT = st.floats(0, 1)
FEATURES = st.builds(importance.Features, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT)
TEMPERATURES = st.sampled_from([0.5, 2.0])
AT = datetime(2026, 1, 1, tzinfo=UTC)
CORRECTIONS = st.lists(
    st.builds(Correction, UNIT, st.sampled_from(list(Level)), st.sampled_from(list(Verdict))), max_size=30
)


def fact(seq: int, text: str, *tags: str) -> Fact:
    return Fact(f"fact-{seq}", seq, text, tags, AT)


def test_facts_are_retrieved_best_first_and_ties_newest_first() -> None:
    facts = [fact(i, "The student mixes up area and perimeter.", "area") for i in range(1, 15)]
    found = matching.retrieve(facts, ["area"])
    assert [f.seq for f in found] == list(range(14, 4, -1))


def test_a_tag_can_find_a_fact_whose_text_does_not() -> None:
    facts = [fact(1, "Wanted to talk about something else.", "pony riding"), fact(2, "Likes maths.", "maths")]
    assert matching.retrieve(facts, ["pony riding"])[0].seq == 1


def test_the_better_of_words_and_meaning_ranks_a_fact() -> None:
    facts = [fact(1, "Mixes up area and perimeter.", "area"), fact(2, "Draws comics.", "comics"), fact(3, "Has a dog.")]
    found = matching.retrieve(facts, ["area"], meant={"fact-1": 0.4, "fact-2": 0.9})
    assert [f.seq for f in found] == [1, 2]
    found = matching.retrieve(facts, [], meant={"fact-1": 0.4, "fact-2": 0.9, "fact-3": 0.9})
    assert [f.seq for f in found] == [3, 2, 1]


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


ALIKE, UNLIKE = np.eye(4, dtype=np.float32)[:2]


def parts(vector: Vector = ALIKE, gap: float = 10.0, author: str = "ann", length: int = 20) -> surprise.MessageParts:
    """Of a message after ten, of two who take turns."""
    known = surprise.History(np.tile(ALIKE, (10, 1)), [10.0] * 9, ["ann", "bob"] * 5, [18, 22] * 5)
    return surprise.message_parts(known, vector, gap, author, length)


def test_a_message_like_all_others_has_no_part_of_surprise() -> None:
    assert parts() == surprise.MessageParts(topic=0.0, gap=0.0, author=None, length=0.0)


def test_each_part_looks_at_one_thing() -> None:
    assert parts(vector=UNLIKE).topic == pytest.approx(1.0)
    assert parts(gap=15.0).gap == pytest.approx(0.5)
    assert parts(author="eve").author == pytest.approx(1.0)
    assert parts(length=40).length == pytest.approx(2.0)
    assert parts(length=21).length == pytest.approx(0.1)


@pytest.mark.parametrize("known", range(3))
def test_what_is_no_habit_yet_is_left_out(known: int) -> None:
    few = surprise.History(np.tile(ALIKE, (known, 1)), [10.0] * known, ["ann"] * known, [20] * known)
    found = surprise.message_parts(few, UNLIKE, 99.0, "ann", 999)
    assert found == surprise.MessageParts(topic=None if known == 0 else 1.0)


def test_the_task_is_compared_too() -> None:
    task = surprise.History(np.zeros((0, 4), dtype=np.float32), [], [], [], task=UNLIKE)
    assert surprise.message_parts(task, UNLIKE, 0.0, "ann", 5).topic == pytest.approx(0.0)


def test_parts_that_are_missing_leave_their_weight_to_the_others() -> None:
    highest = {name: ORDINARY[name][-1] + 1 for name in ("topic", "gap", "length")}
    assert surprise.message_surprise(surprise.MessageParts(**highest)) == pytest.approx(1.0)
    two = surprise.MessageParts(topic=highest["topic"], length=0.0)
    assert 2 / 3 <= surprise.message_surprise(two) <= 2 / 3 + 0.05


@given(st.floats(0, 1e6), st.integers(0, 32000), st.sampled_from(["ann", "bob", "eve"]))
def test_surprise_stays_in_range(gap: float, length: int, author: str) -> None:
    assert 0.0 <= surprise.message_surprise(parts(UNLIKE, gap, author, length)) <= 1.0


@given(UNIT, st.none() | UNIT, UNIT, st.lists(UNIT, max_size=120))
def test_the_signal_stays_in_range(message: float, error: float | None, told: float, own: list[float]) -> None:
    value = surprise.combined(message, error, told)
    assert 0.0 <= value <= 1.0
    assert 0.0 <= surprise.signal(value, own) <= 1.0


@given(UNIT, UNIT, st.lists(UNIT, max_size=120))
def test_the_signal_rises_with_the_sum(value: float, other: float, own: list[float]) -> None:
    low, high = sorted((value, other))
    assert surprise.signal(low, own) <= surprise.signal(high, own) + 1e-12


@pytest.mark.parametrize(("share", "level"), [(0.8, 0.65), (0.95, 0.85), (0.98, 0.90)])
def test_levels_are_reached_by_a_fifth_a_twentieth_and_a_fiftieth_of_ordinary_talk(share: float, level: float) -> None:
    value = ORDINARY["sum"][ORDINARY_SHARES.index(share)]
    assert surprise.signal(value) == pytest.approx(level, abs=0.02)


def test_a_student_s_own_history_raises_and_lowers_the_signal() -> None:
    middle = ORDINARY["sum"][ORDINARY_SHARES.index(0.5)]
    assert surprise.signal(middle, [middle / 2] * 100) > surprise.signal(middle) > surprise.signal(middle, [1.0] * 100)


def test_what_comes_true_though_it_was_thought_unlikely_is_an_error() -> None:
    assert surprise.prediction_error(0.9, 1.0) == pytest.approx(0.1)
    assert surprise.prediction_error(0.9, 0.1) == pytest.approx(0.91)


def test_what_is_out_of_the_ordinary_is_named() -> None:
    assert surprise.unusual(parts()) == ()
    assert surprise.unusual(parts(UNLIKE, 100.0, "eve", 2000)) == ("topic", "gap", "author", "length")


def test_a_level_begins_where_the_student_s_thresholds_say() -> None:
    own = {Level.BOUNDARY: 0.7, Level.COGNITIVE_DISSONANCE: 0.9, Level.PARADIGM_SHIFT: 0.95}
    levels = [surprise.level(signal, own) for signal in (0.69, 0.7, 0.9, 0.95)]
    assert levels == list(Level)


@pytest.mark.parametrize("signal", [0.9, 0.93, 0.96])
def test_what_is_called_unimportant_again_and_again_is_no_shift_any_more(signal: float) -> None:
    noise = [Correction(signal, Level.PARADIGM_SHIFT, Verdict.WAS_NOT_IMPORTANT)] * 4
    assert surprise.level(signal, surprise.thresholds(noise[:0])) is Level.PARADIGM_SHIFT
    assert surprise.level(signal, surprise.thresholds(noise)) is Level.COGNITIVE_DISSONANCE


def test_what_is_called_important_again_and_again_reaches_the_next_level() -> None:
    missed = [Correction(0.87, Level.COGNITIVE_DISSONANCE, Verdict.WAS_IMPORTANT)] * 4
    assert surprise.level(0.87, surprise.thresholds(missed[:1])) is not Level.PARADIGM_SHIFT
    assert surprise.level(0.87, surprise.thresholds(missed)) is Level.PARADIGM_SHIFT


@given(CORRECTIONS)
def test_thresholds_keep_their_order_and_bounds(corrections: list[Correction]) -> None:
    found = list(surprise.thresholds(corrections).values())
    assert found == sorted(found)
    for start, default in zip(found, surprise.THRESHOLDS.values(), strict=True):
        assert default - 0.1 - 1e-12 <= start <= 0.99 + 1e-12


@given(CORRECTIONS, UNIT, st.sampled_from(list(Level)), st.sampled_from(list(Verdict)), st.integers(0, 30))
def test_a_verdict_moves_thresholds_one_way_only(
    corrections: list[Correction], signal: float, level: Level, verdict: Verdict, place: int
) -> None:
    more = [*corrections[:place], Correction(signal, level, verdict), *corrections[place:]]
    before, after = surprise.thresholds(corrections), surprise.thresholds(more)
    for name in before:
        if verdict is Verdict.WAS_IMPORTANT:
            assert after[name] <= before[name] + 1e-12
        else:
            assert after[name] >= before[name] - 1e-12


@given(st.lists(st.floats(0, 10_000), max_size=30), st.floats(0, 10_000))
def test_only_the_last_ten_minutes_count(times: list[float], now: float) -> None:
    rate = importance.messages_per_minute(times, now)
    talked = min(600.0, max(30.0, now - min(times, default=now)))
    assert rate == pytest.approx(sum(0 <= now - t < 600 for t in times) * 60 / talked)


def test_names_are_named() -> None:
    assert not matching.named(Doc("Could YOU help?"), ["Bello"])
    assert matching.named(Doc("ask the Companion"), ["Companion"])
    assert not matching.named(Doc("She is young."), ["Bello"])
