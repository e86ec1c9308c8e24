"""Benchmarks: figures and ratios taken in one run, never pass or fail."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from graphmem.errors import InvalidInput
from graphmem.progress import print_line, spoken
from graphmem.settings import Settings

Figures = dict[str, float]


class Measure(NamedTuple):
    """A benchmark: its module, whose function `measure_NAME` takes the figures, and what they are."""

    module: str
    measures: str


BENCHMARKS = {
    "turn": Measure("turn", "latency of handleTurn beside its floor, and turns a second of 16 and 64 students"),
    "load": Measure("load", "turns lost or doubled over twenty kills of API and database"),
    "jobs": Measure("load", "jobs a second of one, two and four workers; jobs lost or doubled over twenty kills"),
    "recall": Measure(
        "recall",
        "evidence found, and kept by salience (LoCoMo, BEAM); sessions found (MathDial); precision (PrecisionMemBench)",
    ),
    "scale": Measure("turn", "time of a context from 1,000 to 100,000 memories"),
    "compression": Measure("compression", "evidence left after compression (LoCoMo); speed of clustering"),
    "formation": Measure("formation", "cost of memories, shares consolidated; reference memories held (gold)"),
    "understanding": Measure("understanding", "bands, kinds, modalities and ledger categories of messages"),
    "valence": Measure("understanding", "correlation of affect with people's ratings (EmoBank)"),
    "match": Measure("understanding", "predictions that came true, ranked above those that did not"),
    "surprise": Measure("surprise", "life events told from ordinary turns"),
    "safety": Measure("safety", "dangers found, and false alarms"),
    "contradiction": Measure("understanding", "classes of pairs of statements"),
    "chats": Measure("chats", "questions answered and changes noticed in whole chats"),
    "boundaries": Measure("surprise", "topic boundaries found (TIAGE)"),
    "model": Measure("model", "what becomes of a language model's notes, links, ledger and alarms, and what they cost"),
    "integrity": Measure("integrity", "cost of the integrity hash"),
}


def run_benchmark(name: str, settings: Settings, file: Path | None) -> Figures:
    """Take the figures of a benchmark; what goes on is said on standard error every few seconds.

    Raises
    ------
    InvalidInput    there is none of this name, or it cannot read the file
    """
    if name not in BENCHMARKS:
        raise InvalidInput(f"There is no benchmark {name}: there are {', '.join(BENCHMARKS)}.")
    module = import_module(f"graphmem.bench.{BENCHMARKS[name].module}")
    measure: Callable[[Settings, Path | None], Figures] = getattr(module, f"measure_{name}")
    with spoken(print_line, f"measuring {name}"):
        return measure(settings, file)


def figure_lines(figures: Figures) -> list[str]:
    """Return figures as lines for people to read."""
    return [f"{key:>26}  {value:,.3f}" for key, value in figures.items()]
