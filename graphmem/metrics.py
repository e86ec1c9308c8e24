"""Prometheus metrics served at /metrics: aggregate numbers only, no personal data."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from time import perf_counter

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from graphmem.errors import GraphmemError
from graphmem.model import Usage

registry = CollectorRegistry()

_counter, _gauge = partial(Counter, registry=registry), partial(Gauge, registry=registry)
_timing = partial(Histogram, buckets=(0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30), registry=registry)

turns_total = _counter("graphmem_turns", "Turns handled, by result (answered, repeated or an error code)", ["result"])
degraded_turns = _counter(
    "graphmem_degraded_turns", "Turns that the offline mind answered though a model is configured"
)
turn_seconds = _timing("graphmem_turn_seconds", "Seconds from a turn's request to its answer")
recall_seconds = _timing("graphmem_recall_seconds", "Seconds of a recall or context that an app asks for")
model_calls = _counter("graphmem_model_calls", "Language-model calls made for turns", ["prompt"])
model_tokens = _counter("graphmem_model_tokens", "Tokens of those calls", ["direction", "prompt"])
unlocked_students = _gauge("graphmem_unlocked_students", "Students held open by this process")
held_bytes = _gauge("graphmem_held_bytes", "Bytes this process holds of students, about")
model_errors = _counter("graphmem_model_errors", "Failed language-model calls, by kind", ["kind"])
model_notes = _counter(
    "graphmem_model_notes",
    "Notes of language models, by what became of them (stored as written, replaced by the quote, refused)",
    ["result"],
)
stranded_seconds = _gauge("graphmem_oldest_unanswered_seconds", "Age of the oldest message without a reply")
job_seconds = _gauge("graphmem_oldest_job_seconds", "Seconds that the oldest job has waited")
tampered_values = _counter("graphmem_tampered_values", "Sealed values that were noticed not to open, each once")
jobs = _gauge("graphmem_jobs", "Jobs there are, by kind and state", ["kind", "state"])
open_sessions = _gauge("graphmem_open_sessions", "Sessions that have not ended, of all processes")
consolidated = _counter(
    "graphmem_consolidation_memories",
    "Memories at the end of sessions, by what became of them (considered, kept, failed: left for the next time)",
    ["result"],
)
consolidation_at = _gauge(
    "graphmem_consolidation_last_run_seconds", "When this process last consolidated, in seconds since 1970"
)


@contextmanager
def measured_consolidation(memories: int, now: float) -> Iterator[None]:
    """Count memories that are considered for consolidation, or that could not be."""
    result = "failed"
    try:
        yield
        result = "considered"
    finally:
        consolidated.labels(result).inc(memories)
        consolidation_at.set(now)


@contextmanager
def measured_turn() -> Iterator[None]:
    """Count and time one turn."""
    start, result = perf_counter(), "answered"
    try:
        yield
    except GraphmemError as e:
        result = e.code
        raise
    except Exception:
        result = "INTERNAL"
        raise
    finally:
        turns_total.labels(result).inc()
        turn_seconds.observe(perf_counter() - start)


def count_turn(usage: Usage, *, degraded: bool) -> None:
    """Count what a turn's model calls used, and whether the offline mind stood in."""
    if degraded:
        degraded_turns.inc()
    for each in usage.prompts:
        model_calls.labels(each.prompt).inc(each.calls)
        model_tokens.labels("input", each.prompt).inc(each.input_tokens)
        model_tokens.labels("output", each.prompt).inc(each.output_tokens)
