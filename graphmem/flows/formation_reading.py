"""Readings of a source, before they become what is written: its scores, statements and their features (spec 7)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from graphmem.maths import importance
from graphmem.maths.gravity import boosted
from graphmem.maths.salience import salience
from graphmem.model import (
    Domain,
    Heard,
    LedgerEntry,
    Lesson,
    Level,
    Memory,
    MemoryRole,
    Note,
    NotePlace,
    PairVerdict,
    Source,
    Vector,
)
from graphmem.model.memory import blank_memory, offset_of
from graphmem.search.scoring import gravity_now
from graphmem.text.information import information
from graphmem.text.revision import Effect


@dataclass(frozen=True)
class MessageScores:
    """Scores of a message when it was said; an observation has an importance only (spec 5, 6).

    activity : messages a minute; None for an observation, which nobody said in the course of a conversation
    features : of its importance, in the order of `graphmem.maths.importance.Features`
    """

    importance: float
    surprise: float | None = None
    level: Level | None = None
    activity: float | None = None
    features: tuple[float, ...] = ()

    @property
    def final(self) -> float | None:
        """Score that consolidation compares with a threshold; None for an observation, which is wanted in any case."""
        return None if self.surprise is None else importance.final(self.importance, self.surprise)


@dataclass(frozen=True)
class Marked:
    """Content of a note with what is computed of it: embedding, domain, valence, keyed hashes.

    content : the statement of the note, or the words of its quote
    words : those of its quote
    """

    content: str = field(repr=False)
    words: str = field(repr=False)
    vector: Vector = field(repr=False)
    domain: Domain
    valence: float
    content_hash: str
    slot_key: str | None


@dataclass(frozen=True)
class Ended:
    """A memory that no longer holds, by which other, and whether life has changed or it was wrong."""

    id: str
    by_id: str | None
    effect: Effect


@dataclass(frozen=True)
class Reading:
    """Everything that was found out about one source, before it becomes what is written.

    key : what the ids of its memories are made with
    place : of its message in the question; `earlier` holds the memory of each note of the messages before it
    marked : one for each note
    linked : the notes name their effects on what is known; else effects are judged from `verdicts` and by likeness
    entries : a ledger entry and its embedding, with the place of the note that it is of
    lesson : what the violated expectation taught
    question : to be put to the student
    teach : a way to teach this student
    episode : title of the one that begins with the message
    retracted : matters that the student asks to forget or says are not true; None for what was said last
    valence : of the whole message, -1 to 1
    clarifies : the whole message, as the episode of a clarification, where doubts are open
    verdicts : on a new statement, by its content hash, beside a known memory, by its id
    """

    key: str
    source: Source
    heard: Heard
    snr: int
    scores: MessageScores
    notes: tuple[Note, ...]
    marked: tuple[Marked, ...]
    entries: tuple[tuple[int, LedgerEntry, Vector], ...]
    inferred_by: str
    linked: bool = False
    place: int = 0
    earlier: Mapping[NotePlace, str] = field(default_factory=dict)
    lesson: Lesson | None = None
    question: str = field(default="", repr=False)
    teach: Marked | None = None
    episode: Marked | None = None
    retracted: tuple[Vector | None, ...] = field(default=(), repr=False)
    valence: float = 0.0
    verdicts: Mapping[tuple[str, str], PairVerdict] = field(default_factory=dict)
    clarifies: tuple[Note, Marked] | None = None


TENTATIVE = 0.5
"""Gravity, and share of strength, of what was said and is not consolidated (spec 6)."""
STRENGTH = 0.5
"""Strength of a new memory; each reinforcement adds a fifth of what is missing to 1."""


def new_memory(reading: Reading, note: Note, marked: Marked, place: int, role: MemoryRole = MemoryRole.SAID) -> Memory:
    """Return the memory of one note; `place` is its number among the new ones of its source."""
    scores, source, heard = reading.scores, reading.source, reading.heard
    # A mind that says how important a note is has decided that it is kept; of others the end of the talk decides.
    decided = scores.activity is None or note.importance is not None
    share = 1.0 if decided else TENTATIVE
    return replace(
        blank_memory(source.at),
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
        source_kind=source.kind,
        source_refs=(source.ref,),
        snr=reading.snr,
        passes=max(1, heard.passes),
        importance=scores.importance if note.importance is None else note.importance,
        surprise=scores.surprise,
        surprise_level=scores.level,
        valid_at=note.valid_at or source.at,
        invalid_at=note.invalid_at,
        slot_key=marked.slot_key,
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
    """Return the same memory after it was said again: stronger, surer, and as present as what is used."""
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
