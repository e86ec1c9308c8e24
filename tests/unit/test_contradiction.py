"""How two statements stand to each other, read by the network that ships, and its benchmarks."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from graphmem.bench import BENCHMARKS
from graphmem.bench.understanding import contradiction_figures, measure_contradiction, measure_valence
from graphmem.errors import InvalidInput
from graphmem.model import PairClass
from graphmem.settings import Settings
from graphmem.text.contradiction import FEATURE_BOUND, load_contradiction_network, read_answers, statement_features

FIRST, LAST = "I have never been on a plane in my life.", "I flew to Oslo by plane when I was six."


def test_the_order_of_two_statements_matters_and_nothing_else_does() -> None:
    network = load_contradiction_network()
    alone = network.read([(FIRST, LAST)])[0]
    among = network.read([("My dog is called Bello.", "I like tea."), (FIRST, LAST)])[1]
    assert (alone.likely, alone.ended, alone.clash) == (among.likely, among.ended, among.clash)
    assert alone.likely is PairClass.TRUE_CONTRADICTION
    assert float(alone.chances.sum()) == pytest.approx(1.0, abs=1e-5)
    assert network.read([(LAST, FIRST)])[0].ended != alone.ended


def test_what_is_only_said_again_is_compatible() -> None:
    again, other = load_contradiction_network().read(
        [("I live in Utrecht.", "I live in Utrecht, you know."), ("I live in Utrecht.", "I do not live in Utrecht.")]
    )
    assert (again.likely, again.ended, again.clash) == (PairClass.COMPATIBLE, 0.0, 0.0)
    assert other.likely is not PairClass.COMPATIBLE


def test_numbers_become_chances() -> None:
    reading = read_answers(np.array([0, 9, 0, 0, 0, 9, -9], np.float32))
    assert reading.likely is PairClass.TRUE_CONTRADICTION
    assert (reading.denies, round(reading.ended, 2), round(reading.clash, 2)) == (True, 1.0, 0.0)


def test_features_are_bounded_however_long_a_text_is() -> None:
    vectors = np.eye(2, 384, dtype=np.float32)
    features = statement_features("1 2 3 " * 400, "no " * 400, vectors)
    assert np.abs(features).max() <= FEATURE_BOUND
    assert features.dtype == np.float32


def test_the_held_out_pairs_are_better_told_than_by_chance() -> None:
    figures = measure_contradiction(Settings(), None)
    assert figures["macro_f1"] > 4 * figures["majority_f1"]
    assert figures["retire_auroc"] > 0.75
    assert figures["compatible_retired"] <= 0.1


def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text('{"old": "a", "new": "b"}\n{"old": "c", "new": "d", "class": "maybe"}\n', encoding="utf-8")
    for measure in (measure_contradiction, measure_valence):
        with pytest.raises(InvalidInput, match=r"wrong\.jsonl"):
            measure(Settings(), wrong)


def test_clashes_are_counted() -> None:
    figures = contradiction_figures([0.9, 0.8, 0.1], [True, False, False])
    assert (figures["precision"], figures["recall"]) == (0.5, 1.0)


def test_valence_follows_what_people_felt() -> None:
    figures = measure_valence(Settings(), None)
    assert figures["pearson"] > 0.5


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_is_measured_by_the_module_of_its_row(name: str) -> None:
    assert callable(getattr(import_module(f"graphmem.bench.{BENCHMARKS[name].module}"), f"measure_{name}"))
