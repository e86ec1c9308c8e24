"""The benchmark of boundaries, small: its sample, a file of one's own, and what it refuses."""

import json
from pathlib import Path

import pytest

from graphmem.bench import surprise
from graphmem.bench.surprise import SAMPLE, read_segmented_talks
from graphmem.errors import InvalidInput
from graphmem.settings import Settings

TURNS = [
    ("A", "I have two dogs and a cat.", 0),
    ("B", "What are your dogs called?", 0),
    ("A", "They are called Rex and Spot.", 0),
    ("B", "By the way, do you like country music?", 1),
    ("A", "I do, I love country music.", 0),
]


def write(folder: Path, *rows: object) -> Path:
    path = folder / "talks.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def row_of(turns: list[tuple[str, str, int]]) -> dict[str, object]:
    return {"dialogue_id": "d", "turns": [{"speaker": s, "text": t, "shift": k} for s, t, k in turns]}


def test_figures_of_a_file(tmp_path: Path) -> None:
    figures = surprise.measure_boundaries(Settings(), write(tmp_path, row_of(TURNS), row_of(TURNS[:1])))
    assert (figures["dialogues"], figures["turns"]) == (2, 6)
    names = ("", "online_", "texttiling_")
    for name in names:
        assert all(0 <= figures[f"{name}{score}"] <= 1 for score in ("f1", "pk", "windowdiff"))
    assert figures["f1"] == 1.0


def test_the_sample_is_of_thirty_dialogues_with_attribution_and_better_found_than_by_plain_methods() -> None:
    assert len(read_segmented_talks(SAMPLE)) == 30
    assert "MIT License" in SAMPLE.with_name("ATTRIBUTION.md").read_text(encoding="utf-8")
    figures = surprise.measure_boundaries(Settings(), None)
    assert figures["f1"] > figures["texttiling_f1"] > 0
    assert figures["pk"] < figures["texttiling_pk"]


@pytest.mark.parametrize(
    "row",
    [
        {"turns": []},
        {"dialogue_id": "d"},
        {"turns": ["hi"]},
        {"turns": [{"speaker": "A", "text": "hi"}]},
        {"turns": [{"speaker": "A", "text": 7, "shift": 0}]},
        {"turns": [{"speaker": "A", "text": "hi", "shift": 2}]},
    ],
)
def test_another_format_is_refused_with_file_and_line(row: dict[str, object], tmp_path: Path) -> None:
    path = write(tmp_path, row_of(TURNS), row)
    with pytest.raises(InvalidInput, match="as in TIAGE") as refused:
        surprise.measure_boundaries(Settings(), path)
    assert f"{path}, line 2" in str(refused.value)


def test_a_file_without_any_boundary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no boundary"):
        surprise.measure_boundaries(Settings(), write(tmp_path, row_of(TURNS[:3])))
