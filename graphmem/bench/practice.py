"""A year of practice of twenty made-up students: familiarity beside another forgetting curve than ours (spec 11).

A student's true chance of recall follows half-life regression (Settles and Meeder 2016, "A trainable spaced repetition
model for language learning"): it halves each half-life, which grows with each success and shrinks with each failure.
The service sees outcomes only. Students practise every third day what is due, and meet what their frontier offers.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from statistics import fmean

from scipy.stats import spearmanr

from graphmem.app import Graphmem
from graphmem.bench import Figures
from graphmem.bench.harness import BENCH_INSTITUTION, PASSWORD, console, in_process, tracked
from graphmem.errors import InvalidInput
from graphmem.flows import students
from graphmem.flows.familiarity_plan import recall_at
from graphmem.flows.observation import observe
from graphmem.flows.overlay import find_frontier, list_overlay, list_progress
from graphmem.flows.world import import_world
from graphmem.flows.world_file import read_world
from graphmem.model import Observation, PracticeOutcome, Practised, SourceKind, Who
from graphmem.samples import SAMPLES
from graphmem.settings import Settings

STUDENTS, DAYS, EVERY = 20, 365, 3
DUE_A_DAY, NEW_A_DAY = 10, 1
"""Concepts practised again and met anew on a day; none is met while half of these are due."""
FIRST_HALF_LIFE, LEAST_HALF_LIFE, GROWTH, LOSS = 3.0, 2.0, 2.2, 0.5
"""Days of a concept's first and least half-life (failures are explained), what success and failure make of it."""
SHOWN = 6
"""Concepts that are shown of a student."""
START = datetime(2025, 9, 1, 8, tzinfo=UTC)


@dataclass
class Pupil:
    """A made-up student; by concept the true half-life in days and when it was last practised."""

    who: Who
    ability: float
    chance: Random
    half_life: dict[str, float] = field(default_factory=dict)
    seen: dict[str, datetime] = field(default_factory=dict)

    def recall(self, concept_id: str, at: datetime) -> float:
        """True chance of recall."""
        days = (at - self.seen[concept_id]) / timedelta(days=1)
        return float(2.0 ** (-days / self.half_life[concept_id]))

    def practise(self, concept_id: str, at: datetime) -> Practised:
        """Draw an outcome, and learn from it."""
        known = concept_id in self.seen
        success = self.chance.random() < (self.recall(concept_id, at) if known else self.ability)
        before = self.half_life.get(concept_id, FIRST_HALF_LIFE * 2.0 * self.ability / GROWTH)
        self.half_life[concept_id] = max(LEAST_HALF_LIFE, before * (GROWTH if success else LOSS))
        self.seen[concept_id] = at
        return Practised(concept_id, PracticeOutcome.GOOD if success else PracticeOutcome.AGAIN)


def measure_practice(settings: Settings, file: Path | None) -> Figures:
    """How well familiarity follows what students can truly recall, over a year of practice.

    Parameters
    ----------
    settings : Settings, whose jars are used for a database of the benchmark's own
    file : None; students are made by lot, the curriculum is the sample

    Returns
    -------
    `spearman` of familiarity and true recall at the end of the year, over all concepts of all students; `mean_error` of
    the two, and of a constant (`constant_error`); `recall_spearman` and `recall_error` of the expected recall,
    which is familiarity without mastery; `due_recall` and `not_due_recall`: true recall of what is due and what is not;
    `concepts` known to a student on average. Frontier and due lists are shown on standard error

    Raises
    ------
    InvalidInput    a file was given
    """
    if file is not None:
        raise InvalidInput("bench practice takes no file: its students are made by lot.")
    return in_process(settings, _year)


async def _year(gm: Graphmem) -> Figures:
    await import_world(gm, BENCH_INSTITUTION, read_world(SAMPLES / "mathematics" / "world.csv"))
    pupils = [Pupil(Who(BENCH_INSTITUTION, f"s{i}"), 0.5 + 0.02 * i, Random(i)) for i in range(STUDENTS)]
    end = START + timedelta(days=DAYS)
    later = replace(gm, clock=lambda: end)
    for pupil in tracked(pupils, "A year of practice"):
        await students.enrol(gm, pupil.who, PASSWORD)
        for day in range(0, DAYS, EVERY):
            await _practised(gm, pupil, START + timedelta(days=day))
        await _show(later, pupil)
    return _figures([each async for each in _compared(later, pupils)])


async def _practised(gm: Graphmem, pupil: Pupil, at: datetime) -> None:
    """One day: what is due, then something new."""
    today = replace(gm, clock=lambda: at)
    progress = await list_progress(today, pupil.who, DUE_A_DAY)
    due = [each.concept.id for each in progress if each.due_at is not None and each.due_at <= at]
    new = [] if len(due) >= DUE_A_DAY / 2 else [each.id for each in await find_frontier(today, pupil.who, NEW_A_DAY)]
    practised = tuple(pupil.practise(concept_id, at) for concept_id in (*due, *new))
    if practised:
        lesson = Observation(SourceKind.LESSON, f"day-{at:%Y-%m-%d}", "An exercise.", at, practised=practised)
        await observe(today, pupil.who, [lesson])


async def _compared(gm: Graphmem, pupils: list[Pupil]) -> AsyncIterator[tuple[float, float, bool, float]]:
    """Of each known concept familiarity, true recall, whether it is due, and the chance of recall that is expected."""
    now = gm.clock()
    for pupil in pupils:
        after: str | None = None
        while True:
            page = await list_overlay(gm, pupil.who, gm.settings.page_size, after)
            for known in page.items:
                due = known.retention is not None and known.retention.due_at <= now
                expected = 0.0 if known.retention is None else recall_at(known.retention, now)
                yield known.familiarity, pupil.recall(known.concept.id, now), due, expected
            if (after := page.next) is None:
                break


def _figures(compared: list[tuple[float, float, bool, float]]) -> Figures:
    expected = [each[3] for each in compared]
    familiar, true = [each[0] for each in compared], [each[1] for each in compared]
    middle = fmean(true)
    due = [recall for _, recall, is_due, _ in compared if is_due]
    return {
        "spearman": float(spearmanr(familiar, true).statistic),
        "mean_error": fmean(abs(a - b) for a, b in zip(familiar, true, strict=True)),
        "recall_spearman": float(spearmanr(expected, true).statistic),
        "recall_error": fmean(abs(a - b) for a, b in zip(expected, true, strict=True)),
        "constant_error": fmean(abs(middle - b) for b in true),
        "due_recall": fmean(due),
        "not_due_recall": fmean([recall for _, recall, is_due, _ in compared if not is_due]),
        "concepts": len(compared) / STUDENTS,
    }


async def _show(gm: Graphmem, pupil: Pupil) -> None:
    progress = await list_progress(gm, pupil.who, SHOWN)
    frontier = await find_frontier(gm, pupil.who, SHOWN)
    console.print(f"{pupil.who.student_id}, ability {pupil.ability:.2f}")
    console.print("  next:", "; ".join(f"{each.name} (grade {each.grade})" for each in frontier))
    for each in progress:
        due = "never practised" if each.due_at is None else f"due {each.due_at:%Y-%m-%d}"
        true = pupil.recall(each.concept.id, gm.clock())
        console.print(
            f"  {each.concept.name}: familiar {each.familiarity:.2f} ({each.trend:+.2f}), {due}, truly {true:.2f}"
        )
