"""The matter that a task practises."""

import json
from pathlib import Path

import pytest

from graphmem.text.matters import MATTERS_FILE, subject_matter


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
    ],
)
def test_a_task_is_known_by_its_matter(task: str, matter: str) -> None:
    assert subject_matter(task) == matter


@pytest.mark.parametrize("task", ["", "   ", "?", "Zxq vrr plonk.", "🙂" * 40])
def test_a_task_that_says_nothing_has_no_matter(task: str) -> None:
    assert subject_matter(task) == ""


def test_the_figures_of_rows_that_were_not_learned_ship_with_the_weights() -> None:
    figures = json.loads(Path(MATTERS_FILE).with_suffix(".json").read_text("utf-8"))
    assert figures["held out, written"]["right where told"] >= 0.85
    assert figures["held out, mathdial"]["right where told"] >= 0.7
