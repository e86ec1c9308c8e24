"""Memories made of the statements of a source, new and reinforced (spec 6, 7)."""

from dataclasses import replace

from graphmem.flows.formation_reading import Marked, Reading
from graphmem.maths.gravity import boosted
from graphmem.maths.salience import salience
from graphmem.model import (
    Memory,
    MemoryRole,
    Note,
    Reliability,
)
from graphmem.model.memory import offset_of
from graphmem.search.scoring import gravity_now
from graphmem.text.information import information

TENTATIVE = 0.5
"""Gravity, and share of strength, of what was said and is not consolidated (spec 6)."""
STRENGTH = 0.5
"""Strength of a new memory; each reinforcement adds a fifth of what is missing to 1."""


def new_memory(reading: Reading, note: Note, marked: Marked, place: int, role: MemoryRole = MemoryRole.SAID) -> Memory:
    """The memory of one note; `place` is its number among the new ones of its source."""
    scores, source, heard = reading.scores, reading.source, reading.heard
    # A mind that says how important a note is has decided that it is kept; of others the end of the talk decides.
    decided = scores.activity is None or note.importance is not None
    share = 1.0 if decided else TENTATIVE
    return Memory(
        id=f"memory-{reading.key}-{place}",
        modality=note.modality,
        kind=note.kind,
        domain=marked.domain,
        content=marked.content,
        speaker=heard.speaker,
        before="\n".join(filter(None, (note.context, heard.before))),
        gravity=share,
        salience=_salience(reading, note, marked),
        confidence=note.confidence,
        strength=STRENGTH * share,
        valence=marked.valence,
        timestamp=source.at,
        last_accessed=source.at,
        access_count=0,
        reliability=Reliability.RELIABLE,
        reinforcement_count=0,
        last_reinforced_at=None,
        source_kind=source.kind,
        source_refs=(source.ref,),
        snr=reading.snr,
        passes=max(1, heard.passes),
        importance=scores.importance if note.importance is None else note.importance,
        surprise=scores.surprise,
        surprise_level=scores.level,
        flashbulb=False,
        valid_at=note.valid_at or source.at,
        invalid_at=note.invalid_at,
        slot_key=marked.slot_key,
        merged_count=0,
        content_hash=marked.content_hash,
        consolidated=decided,
        role=role,
        aspect=note.aspect,
        quote=None if marked.words == marked.content else marked.words,
        slot=note.slot,
        utc_offset=offset_of(heard.at),
    )


def _salience(reading: Reading, note: Note, marked: Marked) -> float:
    scored = salience(reading.scores.final, reading.snr, information(marked.words))
    return scored if note.importance is None else max(scored, note.importance)


def reinforced_memory(memory: Memory, reading: Reading) -> Memory:
    """The same memory after it was said again: stronger, surer, and as present as what is used."""
    at = max(reading.source.at, memory.last_accessed)
    refs = memory.source_refs if reading.source.ref in memory.source_refs else (*memory.source_refs, reading.source.ref)
    return replace(
        memory,
        gravity=boosted(gravity_now(memory, at)),
        last_accessed=at,
        strength=memory.strength + (1.0 - memory.strength) / 5,
        confidence=memory.confidence + (1.0 - memory.confidence) / 5,
        salience=max(memory.salience, salience(reading.scores.final, reading.snr, information(memory.words))),
        importance=max(memory.importance, reading.scores.importance),
        reinforcement_count=memory.reinforcement_count + 1,
        last_reinforced_at=reading.source.at,
        source_refs=refs,
    )
