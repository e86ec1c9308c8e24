"""The matter that a task practises."""

import json
from pathlib import Path

import pytest

from graphmem.bench.talks import is_held_out
from graphmem.text.matters import subject_matter
from graphmem.text.operations import lesson_title

TASKS = Path(__file__).parents[2] / "scripts" / "data" / "tasks.jsonl"


@pytest.mark.parametrize(
    ("task", "matter"),
    [
        ("Mia reads 3/4 of her book on Monday and half of the rest on Tuesday. What part is left?", "fractions"),
        ("A jacket costs $80 and is reduced by 15%. What does it cost now?", "percentages"),
        ("A tap fills 12 litres per minute. How long does it need for a tub of 180 litres?", "rates"),
        ("What is the mean of 4, 8, 9 and 11?", "averages"),
        ("Solve 3x + 5 = 20.", "equations"),
        ("2.8A.2- and 3-Dimensional Shapes", "2- and 3-Dimensional Shapes"),
        ("3.4K.Multiplying Multi-Digit Numbers - 2", "Multiplying Multi-Digit Numbers"),
        ("3.4B.Rounding Whole Numbers (Review) - 1", "Rounding Whole Numbers"),
        ("5.3 Equivalent fractions on a number line", "Equivalent fractions on a number line"),
    ],
)
def test_a_task_is_known_by_its_matter(task: str, matter: str) -> None:
    assert subject_matter(task) == matter


@pytest.mark.parametrize("task", ["", "   ", "?", "Zxq vrr plonk.", "🙂" * 40])
def test_a_task_that_says_nothing_has_no_matter(task: str) -> None:
    assert subject_matter(task) == ""


@pytest.mark.parametrize(("source", "least"), [("written", 0.85), ("mathdial", 0.7)])
def test_of_tasks_that_were_not_learned_most_of_what_is_told_is_right(source: str, least: float) -> None:
    rows = [row for row in map(json.loads, TASKS.read_text("utf-8").splitlines()) if not lesson_title(row["task"])]
    held_out = [row for row in rows if row["source"] == source and is_held_out(row["task"])]
    told = [(matter, row["matters"]) for row in held_out if (matter := subject_matter(row["task"]))]
    assert len(told) >= len(held_out) / 2
    assert sum(matter in own for matter, own in told) >= least * len(told)
