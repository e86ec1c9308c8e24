"""How familiar a student is with a concept: pure decisions on the practice there was (spec 11).

The forgetting curve is FSRS-6 (Ye et al. 2024, "A stochastic shortest path algorithm for optimizing spaced repetition
scheduling"; the `fsrs` library with its published parameters, no learning steps, no random spread): each practice gives
a stability in days, and what is recalled falls with the days since. What was practised badly is fresh, and still not
mastered: familiarity is the chance of recall times the mastery, which moves a part of the way to each outcome, twice as
far up as down, so that one slip does not undo a year.
"""

from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime, timedelta

from fsrs import Card, Rating, Scheduler

from graphmem.model import Practice, PracticeOutcome, Retained

TREND_DAYS = 28
"""Days over which a trend is taken."""
MASTERY_UP, MASTERY_DOWN = 0.4, 0.2
"""Share of the way to an outcome that mastery moves with each practice; chosen on the students of `bench practice`."""
FADED_RECALL = 0.7
"""Chance of recall below which a concept counts as forgotten."""
LONGEST_DAYS = 36_500
"""Days that are looked ahead; what lasts longer fades then."""
RATINGS = {
    PracticeOutcome.AGAIN: Rating.Again,
    PracticeOutcome.HARD: Rating.Hard,
    PracticeOutcome.GOOD: Rating.Good,
    PracticeOutcome.EASY: Rating.Easy,
}
SUCCESS = {
    PracticeOutcome.AGAIN: 0.0,
    PracticeOutcome.HARD: 0.5,
    PracticeOutcome.GOOD: 1.0,
    PracticeOutcome.EASY: 1.0,
}
"""Mastery that an outcome speaks for."""
SCHEDULER = Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
"""The published curve; `docs/world.md` lists its parameters."""


def retained(history: Sequence[Practice]) -> Retained | None:
    """How a concept is held after all practice there was; None without any.

    Parameters
    ----------
    history : in any order; a familiarity that was set is one practice, which sets the mastery

    Source: spec 11; Ye et al. 2024, FSRS-6.

    Examples
    --------
    >>> from datetime import UTC
    >>> first = datetime(2026, 1, 1, tzinfo=UTC)
    >>> held = retained([Practice(first, PracticeOutcome.GOOD)])
    >>> held.mastery, round(held.stability, 2), held.due_at.day
    (0.4, 2.31, 3)
    """
    card, mastery = Card(card_id=0), 0.0
    for practice in sorted(history, key=lambda each: (each.at, each.outcome.value)):
        card, _ = SCHEDULER.review_card(card, RATINGS[practice.outcome], practice.at)
        to = SUCCESS[practice.outcome]
        step = MASTERY_UP if to > mastery else MASTERY_DOWN
        mastery = mastery + step * (to - mastery) if practice.set_to is None else practice.set_to
    if card.last_review is None:
        return None
    return Retained(mastery, float(card.stability or 0.0), float(card.difficulty or 0.0), card.last_review, card.due)


def familiarity_at(retention: Retained | None, at: datetime) -> float:
    """Familiarity at a moment, 0 to 1; 0 without any practice.

    Examples
    --------
    >>> from datetime import UTC
    >>> first = datetime(2026, 1, 1, tzinfo=UTC)
    >>> held = retained([Practice(first, PracticeOutcome.GOOD), Practice(first, PracticeOutcome.GOOD)])
    >>> [round(familiarity_at(held, first + timedelta(days=days)), 2) for days in (0, 7, 30, 365)]
    [0.64, 0.52, 0.43, 0.29]
    """
    return 0.0 if retention is None else retention.mastery * recall_at(retention, at)


def recall_at(retention: Retained, at: datetime) -> float:
    """Chance that a practised concept is recalled at a moment, above 0 to 1; it changes from day to day.

    Examples
    --------
    >>> from datetime import UTC
    >>> first = datetime(2026, 1, 1, tzinfo=UTC)
    >>> round(recall_at(retained([Practice(first, PracticeOutcome.AGAIN)]), first + timedelta(days=7)), 2)
    0.58
    """
    card = Card(card_id=0, stability=retention.stability, last_review=retention.practised_at)
    return float(SCHEDULER.get_card_retrievability(card, max(at, retention.practised_at)))


def fades_at(retention: Retained) -> datetime:
    """When the chance of recall falls below 0.7 unless the concept is practised, to the day.

    Examples
    --------
    >>> from datetime import UTC
    >>> first = datetime(2026, 1, 1, tzinfo=UTC)
    >>> fades_at(retained([Practice(first, PracticeOutcome.GOOD)])).date().isoformat()
    '2026-01-23'
    """

    def faded(days: int) -> bool:
        return recall_at(retention, retention.practised_at + timedelta(days=days)) < FADED_RECALL

    return retention.practised_at + timedelta(days=bisect_left(range(LONGEST_DAYS), True, key=faded))


def trend_at(history: Sequence[Practice], at: datetime) -> float:
    """How much more familiar a concept is than four weeks ago, -1 to 1.

    Examples
    --------
    >>> from datetime import UTC
    >>> now = datetime(2026, 3, 1, tzinfo=UTC)
    >>> trend_at([Practice(now, PracticeOutcome.GOOD)], now)
    0.4
    """
    then = at - timedelta(days=TREND_DAYS)
    before = retained([practice for practice in history if practice.at <= then])
    return familiarity_at(retained(history), at) - familiarity_at(before, then)
