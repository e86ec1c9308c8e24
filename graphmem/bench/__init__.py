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
    "turn": "turn",
    "recall": "recall",
    "keep": "salience",
    "formation": "formation",
    "boundaries": "boundaries",
    "understanding": "understanding",
    "match": "matching",
    "surprise": "surprise",
    "safety": "safety",
    "compression": "compression",
    "clusters": "clusters",
    "crash": "crash",
    "year": "year",
    "contradiction": "contradiction",
    "detection": "detection",
    "stories": "stories",
    "chats": "chats",
    "valence": "valence",
    "load": "load",
    "jobs": "jobs",
    "scale": "scale",
    "world": "world",
    "integrity": "integrity",
    "practice": "practice",
    "passwords": "passwords",
}
"""The module of each benchmark; its function `measure_NAME` takes the figures."""


def benchmark(name: str) -> Callable[[Settings, Path | None], Figures]:
    """A benchmark by its name.

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
    module = import_module(f"graphmem.bench.{BENCHMARKS[name]}")
    measure: Callable[[Settings, Path | None], Figures] = getattr(module, f"measure_{name}")
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
        for key, value in figures.items():
            typer.echo(f"{key:>22}  {value:,.3f}")
