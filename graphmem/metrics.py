"""Prometheus metrics served at /metrics: aggregate numbers only, no personal data."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from graphmem.errors import GraphmemError
from graphmem.model import Usage

registry = CollectorRegistry()

turns_total = Counter(
    "graphmem_turns", "Turns handled, by result (answered, repeated or an error code)", ["result"], registry=registry
)
degraded_turns = Counter(
    "graphmem_degraded_turns", "Turns that the offline mind answered though a model is configured", registry=registry
)
turn_seconds = Histogram(
    "graphmem_turn_seconds",
    "Seconds from a turn's request to its answer",
    buckets=(0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
    registry=registry,
)
recall_seconds = Histogram(
    "graphmem_recall_seconds",
    "Seconds of a recall or context that an app asks for",
    buckets=(0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
    registry=registry,
)
model_calls = Counter("graphmem_model_calls", "Language-model calls made for turns", ["prompt"], registry=registry)
model_tokens = Counter("graphmem_model_tokens", "Tokens of those calls", ["direction", "prompt"], registry=registry)
unlocked_students = Gauge("graphmem_unlocked_students", "Students held open by this process", registry=registry)
held_bytes = Gauge("graphmem_held_bytes", "Bytes this process holds of students, about", registry=registry)
model_errors = Counter("graphmem_model_errors", "Failed language-model calls, by kind", ["kind"], registry=registry)
model_notes = Counter(
    "graphmem_model_notes",
    "Notes of language models, by what became of them (stored as written, replaced by the quote, refused)",
    ["result"],
    registry=registry,
)
stranded_seconds = Gauge(
    "graphmem_oldest_unanswered_seconds", "Age of the oldest message without a reply", registry=registry
)
job_seconds = Gauge("graphmem_oldest_job_seconds", "Seconds that the oldest job has waited", registry=registry)
tampered_values = Counter(
    "graphmem_tampered_values", "Sealed values that were noticed not to open, each once", registry=registry
)
jobs = Gauge("graphmem_jobs", "Jobs there are, by kind and state", ["kind", "state"], registry=registry)
open_sessions = Gauge("graphmem_open_sessions", "Sessions that have not ended, of all processes", registry=registry)


consolidated = Counter(
    "graphmem_consolidation_memories",
    "Memories at the end of sessions, by what became of them (considered, kept, failed: left for the next time)",
    ["result"],
    registry=registry,
)
consolidation_at = Gauge(
    "graphmem_consolidation_last_run_seconds",
    "When this process last consolidated, in seconds since 1970",
    registry=registry,
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
