"""Benchmarks: figures and ratios taken in one run, never pass or fail."""

import json
from collections.abc import Callable
from pathlib import Path

import typer

from graphmem.errors import InvalidInput
from graphmem.settings import Settings

Figures = dict[str, float]


def benchmarks() -> dict[str, Callable[[Settings, Path | None], Figures]]:
    """Every benchmark by name."""
    from graphmem.bench import (
        boundaries,
        clusters,
        compression,
        contradiction,
        crash,
        detection,
        formation,
        integrity,
        jobs,
        load,
        matching,
        passwords,
        practice,
        recall,
        safety,
        salience,
        scale,
        stories,
        surprise,
        turn,
        understanding,
        valence,
        world,
        year,
    )

    return {
        "turn": turn.measure_turn,
        "recall": recall.measure_recall,
        "keep": salience.measure_salience,
        "formation": formation.measure_formation,
        "boundaries": boundaries.measure_boundaries,
        "understanding": understanding.measure_understanding,
        "match": matching.measure_match,
        "surprise": surprise.measure_surprise,
        "safety": safety.measure_safety,
        "compression": compression.measure_compression,
        "clusters": clusters.measure_clusters,
        "crash": crash.measure_crash,
        "year": year.measure_year,
        "contradiction": contradiction.measure_contradiction,
        "detection": detection.measure_detection,
        "stories": stories.measure_stories,
        "valence": valence.measure_valence,
        "load": load.measure_load,
        "jobs": jobs.measure_jobs,
        "scale": scale.measure_scale,
        "world": world.measure_world,
        "integrity": integrity.measure_integrity,
        "practice": practice.measure_practice,
        "passwords": passwords.measure_passwords,
    }


def run_benchmark(settings: Settings, name: str, file: Path | None, *, as_json: bool) -> None:
    """Run one benchmark and print its figures, as a table or as one JSON document.

    Raises
    ------
    InvalidInput    there is no benchmark of this name
    """
    known = benchmarks()
    if name not in known:
        raise InvalidInput(f"There is no benchmark {name}: there are {', '.join(known)}.")
    figures = known[name](settings, file)
    if as_json:
        typer.echo(json.dumps({"benchmark": name, "result": figures}))
    else:
        for key, value in figures.items():
            typer.echo(f"{key:>22}  {value:,.3f}")
