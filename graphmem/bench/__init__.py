"""Benchmarks: figures and ratios taken in one run, never pass or fail."""

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import typer

from graphmem.errors import InvalidInput
from graphmem.settings import Settings

Figures = dict[str, float]

BENCHMARKS = {
    "turn": "latency of handleTurn beside its floor, and turns a second of 16 and 64 students",
    "load": "turns lost or doubled over twenty kills of API and database",
    "jobs": "jobs a second of one, two and four workers; jobs lost or doubled over twenty kills",
    "recall": "evidence found for questions (LoCoMo, BEAM, QMSum), or a misconception's session (MathDial)",
    "keep": "evidence among the most salient turns (LoCoMo)",
    "scale": "time of a context from 1,000 to 100,000 memories",
    "compression": "evidence left after compression (LoCoMo); agreement and speed of clustering",
    "formation": "junk, variety and cost of memories; reference memories held (gold)",
    "understanding": "bands, kinds, modalities and ledger categories of messages",
    "match": "predictions that came true told from others",
    "surprise": "life events told from ordinary turns",
    "safety": "dangers found, and false alarms",
    "contradiction": "classes of pairs of statements; alarms among a speaker's own statements",
    "stories": "first statements of short stories that end as wanted",
    "chats": "questions answered and changes noticed in whole chats",
    "boundaries": "topic boundaries found (TIAGE)",
    "valence": "correlation of affect with people's ratings (EmoBank)",
    "practice": "familiarity beside the true recall of simulated students",
    "model": "what becomes of a language model's notes, links, ledger and alarms, and what they cost",
    "integrity": "cost of the integrity hash",
}
"""What each benchmark measures; `measure_NAME` in the module of its name takes the figures."""


def benchmark(name: str) -> Callable[[Settings, Path | None], Figures]:
    """Return the benchmark of a name.

    Raises
    ------
    InvalidInput    there is none of this name

    Examples
    --------
    >>> benchmark("match").__name__
    'measure_match'
    """
    if name not in BENCHMARKS:
        raise InvalidInput(f"There is no benchmark {name}: there are {', '.join(BENCHMARKS)}.")
    measure: Callable[[Settings, Path | None], Figures] = getattr(
        import_module(f"graphmem.bench.{name}"), f"measure_{name}"
    )
    return measure


def run_benchmark(settings: Settings, name: str, file: Path | None, *, as_json: bool) -> None:
    """Run one benchmark and print its figures, as a table or as one JSON document.

    Raises
    ------
    InvalidInput    there is no benchmark of this name
    """
    figures = benchmark(name)(settings, file)
    if as_json:
        typer.echo(json.dumps({"benchmark": name, "result": figures}))
    else:
        typer.echo("\n".join(f"{key:>26}  {value:,.3f}" for key, value in figures.items()))
