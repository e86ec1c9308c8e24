"""A memory as tests need one: whole, and with what matters put in."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from graphmem.model import Memory, MemoryKind, Modality
from graphmem.model.memory import blank_memory

NOW = datetime(2026, 1, 15, tzinfo=UTC)


def memory(memory_id: str, content: str = "A memory.", **changes: object) -> Memory:
    """A trait the student told a day ago, with some fields changed."""
    plain = replace(
        blank_memory(NOW - timedelta(days=1)),
        id=memory_id,
        modality=Modality.SEMANTIC,
        kind=MemoryKind.TRAIT,
        content=content,
        before="",
        salience=0.5,
        confidence=0.9,
        last_accessed=NOW,
        source_refs=(f"turn-of-{memory_id}",),
        snr=400,
        passes=2,
        importance=0.5,
        surprise=0.5,
        valid_at=None,
        content_hash=f"hash of {memory_id}",
        consolidated=True,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]
