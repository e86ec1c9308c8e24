"""A memory as tests need one: whole, and with what matters put in."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from graphmem.model import Domain, Memory, MemoryKind, Modality, Reliability, SourceKind

NOW = datetime(2026, 1, 15, tzinfo=UTC)


def memory(memory_id: str, content: str = "A memory.", **changes: object) -> Memory:
    """A trait the student told a day ago, with some fields changed."""
    plain = Memory(
        id=memory_id,
        modality=Modality.SEMANTIC,
        kind=MemoryKind.TRAIT,
        domain=Domain.OTHER,
        content=content,
        speaker=None,
        before="",
        gravity=1.0,
        salience=0.5,
        confidence=0.9,
        strength=0.5,
        valence=0.0,
        timestamp=NOW - timedelta(days=1),
        last_accessed=NOW,
        access_count=0,
        reliability=Reliability.RELIABLE,
        reinforcement_count=0,
        last_reinforced_at=None,
        source_kind=SourceKind.CHAT,
        source_refs=(f"turn-of-{memory_id}",),
        snr=400,
        passes=2,
        importance=0.5,
        surprise=0.5,
        surprise_level=None,
        flashbulb=False,
        valid_at=None,
        invalid_at=None,
        slot_key=None,
        merged_count=0,
        content_hash=f"hash of {memory_id}",
        consolidated=True,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]
