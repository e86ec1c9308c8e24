"""The statements of benchmarks, one a file of `cypher/bench/`."""

from graphmem.store import queries


def statement(name: str) -> str:
    """A statement of the benchmark's own, by the name of its file."""
    return "CYPHER 25\n" + queries.read(f"bench/{name}")
