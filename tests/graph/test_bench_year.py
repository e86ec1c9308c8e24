"""The benchmark of a year, small: sessions pass, questions are asked once their evidence was told, all is counted."""

from datetime import timedelta
from pathlib import Path

from graphmem.app import Graphmem
from graphmem.bench.datasets import EvidenceQuestion, Talk, Utterance
from graphmem.bench.year import MONTHS, YEAR_BEGINS, year_figures
from tests.conftest import another_replica

TOLD = (
    "My hamster Bella sleeps in a shoe box under the stairs.",
    "I play the trumpet in the school orchestra.",
    "Uncle Ferdinand builds tiny submarines out of matchboxes.",
    "My best friend Ottilie lives next to the old mill.",
)


async def test_a_small_year(gm: Graphmem, tmp_path: Path) -> None:
    turns = tuple(Utterance(f"t{i}", "Zelda", text, YEAR_BEGINS) for i, text in enumerate(TOLD))
    talk = Talk("talk", turns, (EvidenceQuestion("What does Ferdinand build?", ("t2",)),))
    later = another_replica(gm, clock=lambda: YEAR_BEGINS + timedelta(days=400))
    found = await year_figures(later, [talk], tmp_path, sessions=2)
    assert found["turns"] == len(TOLD)
    assert found[f"recall@{MONTHS}"] == 1.0
    assert f"recall@{1}" not in found
    assert found["memories@1"] < found[f"memories@{MONTHS}"] == found["most_memories"]
    assert found[f"context_ms@{MONTHS}"] > 0
