"""The statements of benchmarks, one a file of `cypher/bench/`."""

from importlib.resources import files


def statement(name: str) -> str:
    """A statement of the benchmark's own, by the name of its file."""
    return "CYPHER 25\n" + (files("cypher") / "bench" / f"{name}.cypher").read_text("utf-8")
