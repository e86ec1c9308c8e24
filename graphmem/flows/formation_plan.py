"""Decisions of memory formation, as pure functions: from what was read in a source to all that is written of it.

Near duplicates reinforce instead of being copied; edges go to what is known already (spec 7).
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice, pairwise

from graphmem.flows.ending import as_memory, known_memory, restoring, with_stems
from graphmem.flows.uncertainty_plan import (
    CORRECTED_BY,
    NEAREST_COMPARED,
    REASSURED_BY,
    Rival,
    Settling,
    Testimony,
    answered,
    compared,
    completed,
    contradiction,
    doubted_ids,
    is_held,
    settled,
    shifted_tolerance,
)
from graphmem.maths import importance
from graphmem.maths.gravity import boosted
from graphmem.maths.importance import SEGMENT_GAP, salience
from graphmem.model import (
    OF_A_SITTING,
    DetectionContext,
    Domain,
    EdgeType,
    Effect,
    Entity,
    EntityKind,
    Fact,
    Heard,
    KnownItem,
    LedgerCategory,
    LedgerEntry,
    Lesson,
    Level,
    Link,
    Memory,
    MemoryKind,
    MemoryRole,
    Modality,
    Note,
    NotePlace,
    Question,
    Reliability,
    Resolution,
    Scope,
    Source,
    SourceKind,
    Uncertainty,
    UncertaintyState,
    Vector,
)
from graphmem.model.memory import blank_memory, offset_of
from graphmem.search.index import SearchIndex
from graphmem.search.scoring import gravity_now
from graphmem.store.changes import (
    Changes,
    End,
    FormedSource,
    Mention,
    New,
    NewEdge,
    NewQuestion,
    Origin,
    Promotion,
    Reinforced,
    Span,
    Tolerance,
    Update,
    renewed,
)
from graphmem.store.uncertainties import Recorded
from graphmem.text.doc import Doc, doc_of, information
from graphmem.text.normalize import said as plain
from graphmem.text.pairs import gist, is_said_by
from graphmem.text.reminders import is_quoted
from graphmem.text.revision import DENIAL, Claim, PairVerdict, pair_verdict, repeats
from graphmem.text.stems import is_past

TENTATIVE = 0.5
"""Gravity, and share of strength, of what was said and is not consolidated (spec 6)."""
STRENGTH = 0.5
"""Strength of a new memory; each reinforcement adds a fifth of what is missing to 1."""
RETRACTED, RETRACTED_MARGIN = 0.4, 0.05
"""Cosine from which a memory is the one that is to be forgotten, and what others may be farther."""
MAX_KNOWN, MAX_ENTRIES, MAX_FACTS = 15, 8, 4
"""Most known memories, ledger entries and facts that a mind is shown with some messages."""
RELATED = 0.5
"""Cosine from which two memories are related, and the weight of that edge."""
REFINED = 0.7
"""Cosine from which a belief that says more refines one that says less."""
MAX_RELATED = 3
"""Most memories a new one is related to by likeness."""
REMINDED = timedelta(days=7)
"""Likeness over so long a time is being reminded."""


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
class Reading:
    """Everything that was found out about one source, before it becomes what is written.

    key : what the ids of its memories are made with
    place : of its message in the question; `earlier` holds the memory of each note of the messages before it
    marked : one for each note
    linked : the notes name their effects on what is known; else `verdict` finds them
    entries : a ledger entry and its embedding, with the place of the note that it is of
    lesson : what the violated expectation taught
    question : to be put to the student
    teach : a way to teach this student
    episode : title of the one that begins with the message
    retracted : matters that the student asks to forget or says are not true; None for what was said last
    valence : of the whole message, -1 to 1
    clarifies : the whole message, as the episode of a clarification, where doubts are open
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
    clarifies: tuple[Note, Marked] | None = None


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


def known_items(
    vectors: Sequence[Vector],
    known: SearchIndex,
    ledger: Sequence[LedgerEntry],
    facts: Sequence[Fact],
    at: datetime,
    hashed: Callable[[str], str],
) -> tuple[KnownItem, ...]:
    """What messages may say again, refine, end or settle: the nearest memories, open ledger entries, newest facts.

    Parameters
    ----------
    vectors : of the messages
    known : SearchIndex
    ledger : entries; one whose words are a memory's is shown as that memory, with its category; no danger is shown
    facts : newest first
    at : of the newest message
    hashed : content hash of a text

    Returns
    -------
    tuple of KnownItem, oldest first, none twice: at most 15 memories, 8 entries and 4 facts
    """
    found = {
        memory.id: KnownItem(memory.id, memory.content or "", memory.timestamp, "", memory.invalid_at)
        for memory in _nearest_holding(vectors, known, at)
    }
    stands = [entry for entry in ledger if entry.is_active and entry.category is not LedgerCategory.THREAT]
    for entry in sorted(stands, key=lambda each: each.created_at)[-MAX_ENTRIES:]:
        memory = known.find(hashed(entry.content or ""))
        own = entry.id if memory is None or memory.statements else memory.id
        found[own] = KnownItem(own, entry.content or "", entry.created_at, entry.category.value, entry.expires_at)
    shown = {plain(each.text) for each in found.values()}
    taught = [fact for fact in facts if plain(fact.text) not in shown][:MAX_FACTS]
    items = (*found.values(), *(KnownItem(fact.id, fact.text, fact.created_at, "learned") for fact in taught))
    return tuple(sorted(items, key=lambda each: (each.at, each.id)))


def _nearest_holding(vectors: Sequence[Vector], known: SearchIndex, at: datetime) -> list[Memory]:
    """Return statements that hold and are nearest to messages."""
    best: dict[str, tuple[float, Memory]] = {}
    for vector in vectors:
        parts = ((as_memory(s, each), cosine) for s, each, cosine in known.nearest_statements(vector, MAX_KNOWN))
        for memory, cosine in (*known.nearest(vector, 4 * MAX_KNOWN), *parts):
            if (memory.invalid_at is None or memory.invalid_at > at) and memory.role not in OF_A_SITTING:
                best[memory.id] = max(cosine, best.get(memory.id, (-1.0, memory))[0]), memory
    return [memory for _, memory in sorted(best.values(), key=lambda each: -each[0])[:MAX_KNOWN]]


_Touched = tuple[Memory, PairVerdict]
"""A known memory, and what a new statement does to it."""


def noted_claim(reading: Reading, note: Note, marked: Marked) -> Claim:
    """Return the statement of a note as it is compared with what is known."""
    heard = reading.heard
    told = marked.content, marked.words, reading.source.at, marked.vector, note.kind, note.aspect
    return Claim(*told, note.slot, marked.slot_key, marked.valence, heard.text, fresh=not heard.observed)


def touched_memories(reading: Reading, note: Note, marked: Marked, known: SearchIndex) -> list[_Touched]:
    """Return known memories that a new statement says again, refines, ends or denies.

    Of what it ends, and of what it denies, only the surest: what networks find is right of one more often than of all.
    """
    same = known.find(marked.content_hash)
    if same is not None and same.invalid_at is None:
        return [(same, PairVerdict(Effect.SAME))]
    new = noted_claim(reading, note, marked)
    near = compared(new, known)
    judged = [(each, pair_verdict(new, each.said)) for each in near if _comparable(each.memory, reading)]
    if reading.heard.asks:
        # Who asks for what was told tells of no change: "What did I do for my talk?"
        judged = [(each, found) for each, found in judged if not found.ends]
    ended = max((found.chance for _, found in judged if found.ends), default=0.0)
    denied = max((found.chance for _, found in judged if found.effect is Effect.CONTRADICTS), default=0.0)
    least = {Effect.CONTRADICTS: denied, Effect.SAME: 0.0, Effect.REFINES: 0.0}
    # What had ended and is said again ends what has taken its place.
    touched = [] if same is None else [(same, PairVerdict(Effect.SAME))]
    for each, found in judged:
        if found.effect is not None and found.chance >= least.get(found.effect, ended):
            kept = found.effect in (Effect.SAME, Effect.REFINES)
            touched.append((each.summary if kept and each.summary else each.memory, found))
    if not any(found.effect is Effect.SAME for _, found in touched) and note.aspect is None:
        # Work of a lesson begins anew.
        again = (each.memory for each in near if _is_back(new, each, reading))
        touched += [(memory, PairVerdict(Effect.SAME)) for memory in islice(again, 1)]
    return touched


def overtaken_by(reading: Reading, note: Note, marked: Marked, known: SearchIndex) -> Memory | None:
    """Return the first later memory of the same person that ends a statement which arrives late; None where none does.

    What speaks of a later time decides, not what arrives last (spec 7).
    """
    said = noted_claim(reading, note, marked)
    own = (each for each in compared(said, known) if each.summary is None)
    held = (each for each in own if is_held(each.memory, reading.heard.speaker))
    later = [each for each in held if each.memory.timestamp > reading.source.at]
    for each in sorted(later, key=lambda each: (each.memory.timestamp, each.memory.id)):
        newer = replace(each.said, fresh=said.fresh)
        if pair_verdict(newer, said).effect in (Effect.ENDS, Effect.CONTRADICTS):
            return each.memory
    return None


def _is_back(new: Claim, each: Rival, reading: Reading) -> bool:
    """Return whether a memory of the same person that was retired is said again, in the same tense."""
    memory = each.memory
    ended = memory.invalid_at is not None and memory.reliability is Reliability.SUPERSEDED
    earlier = each.summary is None and memory.role is MemoryRole.SAID and memory.timestamp <= reading.source.at
    own = memory.aspect is None and memory.speaker == reading.heard.speaker
    return ended and earlier and own and _tells_past(new) == _tells_past(each.said) and repeats(new, each.said)


def _tells_past(told: Claim) -> bool:
    return any(map(is_past, told.said.plain_words))


def _comparable(memory: Memory, reading: Reading) -> bool:
    """Return whether a memory may be said again or ended by what the same person says now."""
    return is_held(memory, reading.heard.speaker) and memory.timestamp <= reading.source.at


def retracted_memories(reading: Reading, known: SearchIndex) -> Iterator[Memory]:
    """Memories that the student asks to forget, or says are not true."""
    for vector in reading.retracted:
        if vector is None:
            newest = next((m for m in known.latest(NEAREST_COMPARED) if _comparable(m, reading)), None)
            gap = math.inf if newest is None else (reading.source.at - newest.timestamp).total_seconds()
            if newest is not None and gap < SEGMENT_GAP:
                yield newest
            continue
        statements = ((as_memory(s, part), c) for s, part, c in known.nearest_statements(vector, NEAREST_COMPARED))
        near = (*known.nearest(vector, NEAREST_COMPARED), *statements)
        found = [(m, c) for m, c in near if c >= RETRACTED and _comparable(m, reading)]
        best = max((cosine for _, cosine in found), default=0.0)
        yield from (memory for memory, cosine in found if cosine >= best - RETRACTED_MARGIN)


@dataclass(frozen=True)
class Planned:
    """What is formed of a source, and the memory that each of its notes became."""

    changes: Changes
    ids: tuple[str, ...]


def planned_formation(
    reading: Reading,
    known: SearchIndex,
    version: int,
    open_doubts: Sequence[Uncertainty] = (),
    tolerance: float = 0.5,
) -> Planned:
    """Return everything that is formed of one source.

    Parameters
    ----------
    reading : Reading
    known : SearchIndex, the student's memories as of `version`; only read
    open_doubts : about them, not settled
    tolerance : of the companion, 0.2 to 0.8

    Source: spec 6, 7, 8, 12.
    """
    formed = _formed(reading, known)
    doubted = doubted_ids(open_doubts)
    doubts = [each for each in formed.doubts if doubted.isdisjoint((each.uncertainty.a_id, each.uncertainty.b_id))]
    retracted = () if reading.linked else (memory.id for memory in retracted_memories(reading, known))
    ended = tuple(dict.fromkeys((*formed.ended, *retracted)))
    parted = frozenset((*ended, *(i for edge in formed.edges for i in (edge.from_id, edge.to_id))))
    again = {memory_id: each for memory_id, each in formed.again.items() if memory_id not in ended}
    outdated = [memory_id for memory_id in dict.fromkeys(formed.outdated) if memory_id not in ended]
    back = [memory_id for memory_id, each in again.items() if each.memory.invalid_at is not None]
    sides = dict.fromkeys(i for each in doubts for i in (each.uncertainty.a_id, each.uncertainty.b_id) if i)
    denied = [memory_id for memory_id in sides if memory_id not in ended]
    alike = alike_edges(reading, formed.new, known, parted)
    changes = Changes(
        known=version,
        inferred_by=reading.inferred_by,
        origin=Origin(reading.source.kind, reading.source.ref, reading.source.id, reading.source.at),
        formed=FormedSource(reading.snr, reading.scores.activity, reading.scores.features),
        rows=(
            *formed.new,
            *again.values(),
            *renewed(ended, invalid_at=reading.source.at, reliability=Reliability.SUPERSEDED),
            # What had been ended and is said again.
            *renewed(back, invalid_at=None, reliability=Reliability.RELIABLE),
            *renewed(outdated, outdated_at=reading.source.at),
            *(
                Update(memory_id, {"invalid_at": later.timestamp, "reliability": Reliability.SUPERSEDED})
                for memory_id, later in formed.overtaken.items()
            ),
            *renewed(denied, reliability=Reliability.CONTRADICTED),
            *restoring(known, (*ended, *outdated, *denied)),
            *strongest_edges([*said_edges(reading, formed.ids, known), *alike, *formed.edges]),
            *mentions_of(reading, formed.ids),
            *promotions_of(reading, formed.ids),
            *map(End, (*ended, *formed.closed)),
            *doubts,
        ),
    )
    changes = completed(changes, reading.key, reading.source.at, open_doubts, known)
    changes = _with_beside(changes, reading, known)
    own = reading.heard.speaker is None and reading.source.kind is SourceKind.CHAT
    if own and changes.of(Reinforced):
        changes = changes.plus(Tolerance(shifted_tolerance(tolerance, REASSURED_BY)))
    if own:
        changes = _with_settled(changes, reading, known, open_doubts, tolerance)
    return Planned(with_stems(changes, known, by_words=not reading.linked), tuple(formed.ids))


def _with_beside(changes: Changes, reading: Reading, known: SearchIndex) -> Changes:
    """Return the same with what the mind said beside its notes: a question, a way to teach; each hangs on a memory."""
    hashes = {new.memory.content_hash for new in changes.of(New)}
    teach = reading.teach
    if teach is not None and teach.content_hash not in hashes and known.find(teach.content_hash) is None:
        weight = reading.scores.importance
        taught = Note(0, len(reading.heard.text), None, Modality.PROCEDURAL, MemoryKind.CONCEPT, importance=weight)
        memory = new_memory(reading, taught, teach, 1, MemoryRole.PROCEDURE)
        way = New(replace(memory, id=f"procedure-{reading.key}", quote=None), teach.vector, span_of(taught))
        changes = changes.plus(way)
    touched = [*(new.memory.id for new in changes.of(New)), *(again.memory.id for again in changes.of(Reinforced))]
    if reading.question and touched:
        asked = Question(f"question-{reading.key}", reading.question, reading.source.at)
        changes = changes.plus(NewQuestion(asked, touched[0]))
    return changes


@dataclass
class _Formed:
    """Memories that the statements of a source become or touch, gathered one statement after the other.

    ids : of the memory that each statement became
    again : by the memory's id
    ended, outdated : ids of those that hold no longer, and of those of which a part holds no longer
    overtaken : later memories by which new ones, that arrive late, are past already
    edges : to what is refined, ended, denied
    closed : ledger entries and facts that end by themselves
    """

    new: list[New] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    again: dict[str, Reinforced] = field(default_factory=dict)
    ended: list[str] = field(default_factory=list)
    outdated: list[str] = field(default_factory=list)
    overtaken: dict[str, Memory] = field(default_factory=dict)
    edges: list[NewEdge] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    doubts: list[Recorded] = field(default_factory=list)


def _formed(reading: Reading, known: SearchIndex) -> _Formed:
    """Compare each note of a source with what is known: it is new, or said again, and ends or refines others."""
    formed = _Formed()
    for note, marked in zip(reading.notes, reading.marked, strict=True):
        if reading.linked:
            formed.ids.append(
                _keep_note(formed, reading, note, marked, _named_twin(reading, note, marked, formed, known))
            )
            continue
        touched = touched_memories(reading, note, marked, known)
        twin = next((memory for memory, found in touched if found.effect is Effect.SAME), None)
        formed.ids.append(_keep_note(formed, reading, note, marked, twin))
        later = None if twin is not None else overtaken_by(reading, note, marked, known)
        if later is not None:
            formed.overtaken[formed.ids[-1]] = later
            formed.edges.append(NewEdge(formed.ids[-1], later.id, EdgeType.TEMPORAL_EVOLUTION, 1.0))
        for memory, found in touched:
            _apply(formed, reading, len(formed.ids) - 1, memory, found)
    if reading.linked:
        _follow_links(formed, reading, known)
    return formed


def _named_twin(reading: Reading, note: Note, marked: Marked, formed: _Formed, known: SearchIndex) -> Memory | None:
    """Return the memory that a note says again: as its link names it, or of the very words."""
    for link in note.links:
        if link.kind is Effect.SAME:
            target = linked_id(reading, link, formed.ids)
            new = next((each.memory for each in formed.new if each.memory.id == target), None)
            statement = known.statement(target)
            if twin := new or known.get(target) or (statement and statement[0]):
                return twin
    return known.find(marked.content_hash)


def _follow_links(formed: _Formed, reading: Reading, known: SearchIndex) -> None:
    """Apply the effects that notes name; on what is no memory, a ledger entry or a fact, only its end has one."""
    new = {each.memory.id: each.memory for each in formed.new}
    for place, note in enumerate(reading.notes):
        for link in note.links:
            target = linked_id(reading, link, formed.ids)
            if isinstance(link.kind, EdgeType) or not target or target == formed.ids[place]:
                continue
            memory, found = new.get(target) or known_memory(known, target), PairVerdict(link.kind, reason=DENIAL)
            if memory is not None:
                _apply(formed, reading, place, memory, found)
            elif found.ends:
                formed.closed.append(target)


def _apply(formed: _Formed, reading: Reading, place: int, memory: Memory, found: PairVerdict) -> None:
    """Note what a note does to a memory."""
    own_id, note, marked = formed.ids[place], reading.notes[place], reading.marked[place]
    if found.effect in (None, Effect.SAME) or memory.id == own_id:
        return
    if found.effect in (Effect.ENDS, Effect.SETTLES):
        formed.edges.append(NewEdge(memory.id, own_id, EdgeType.TEMPORAL_EVOLUTION, 1.0))
    else:
        type_ = EdgeType.CONTRADICTS if found.effect is Effect.CONTRADICTS else EdgeType.REFINES
        formed.edges.append(NewEdge(own_id, memory.id, type_, 1.0))
    if found.effect is Effect.OUTDATES:
        formed.outdated.append(memory.id)
    elif found.ends:
        formed.ended.append(memory.id)
    elif found.effect is Effect.CONTRADICTS:
        about = ", ".join(note.about) or marked.content
        told = DetectionContext.CONSOLIDATION, reading.source.at, found.reason, about
        formed.doubts.append(Recorded(contradiction(memory, own_id, note.kind, *told), new=True))


def span_of(note: Note) -> Span:
    """Where the quote of a note stands in its source."""
    return Span(note.start, note.end)


def _keep_note(formed: _Formed, reading: Reading, note: Note, marked: Marked, twin: Memory | None) -> str:
    """Keep a note as a new memory or with the one that says the same; the id of that memory."""
    if twin is not None and all(each.memory.id != twin.id for each in formed.new):
        formed.again.setdefault(twin.id, Reinforced(reinforced_memory(twin, reading), span_of(note)))
    if twin is not None:
        return twin.id
    same = next((n.memory.id for n in formed.new if n.memory.content_hash == marked.content_hash), None)
    if same is not None:
        return same
    memory = new_memory(reading, note, marked, len(formed.new) + 1)
    memory = replace(memory, flashbulb=reading.scores.level is Level.PARADIGM_SHIFT)
    formed.new.append(New(memory, marked.vector, span_of(note)))
    return memory.id


def _with_settled(
    changes: Changes, reading: Reading, known: SearchIndex, open_doubts: Sequence[Uncertainty], tolerance: float
) -> Changes:
    """Return the same, with the doubts settled that the student's message answers."""
    again, ended = frozenset(each.memory.id for each in changes.of(Reinforced)), frozenset(changes.ended)
    # Where a mind has linked its notes no words of the message settle anything beside them.
    words = Doc("") if reading.linked else doc_of(reading.heard)
    told = Testimony(words, reading.source.at, again, ended, reading.valence)
    for doubt, winner_id in answered(open_doubts, told, known):
        a, b = known.get(doubt.a_id), known.get(doubt.b_id or "")
        if a is None:
            continue
        clarified = Settling(Resolution.USER_CLARIFIED, winner_id, made=_clarification(changes, reading))
        by = Settling(Resolution.TEMPORAL_SUPERSEDE) if winner_id is None else clarified
        done = settled(doubt, (a,) if b is None else (a, b), by, reading.source.at)
        # A yes to what was in doubt alone puts nothing right.
        put_right = doubt.state is UncertaintyState.SURFACED and not (doubt.is_lone and winner_id)
        # What the message itself has ended ends with it.
        changes = replace(changes, rows=(*done, *changes.rows))
        if put_right:
            changes = changes.plus(Tolerance(shifted_tolerance(tolerance, CORRECTED_BY)))
    return changes


def _clarification(changes: Changes, reading: Reading) -> New | None:
    """Return the episode of a clarification; none where something was formed of the message already."""
    if changes.of(New) or reading.clarifies is None:
        return None
    note, marked = reading.clarifies
    memory = new_memory(reading, note, marked, 1, MemoryRole.SAID)
    return New(replace(memory, kind=MemoryKind.EPISODE), marked.vector, span_of(note))


def said_edges(reading: Reading, ids: Sequence[str], known: SearchIndex) -> Iterator[NewEdge]:
    """Edges that the text itself gives: order in time, and what connects its parts."""
    if not ids:
        return
    before = known.before(reading.source.at)
    gap = math.inf if before is None else (reading.source.at - before.timestamp).total_seconds()
    if before is not None and gap < SEGMENT_GAP and before.id not in ids:
        yield NewEdge(before.id, ids[0], EdgeType.PRECEDES, 1.0 - 0.5 * (gap / SEGMENT_GAP))
    else:
        before = None
    for first, second in pairwise(ids):
        yield NewEdge(first, second, EdgeType.PRECEDES, 1.0)
    for place, note in enumerate(reading.notes):
        for link in note.links:
            if not isinstance(link.kind, EdgeType):
                continue
            target = linked_id(reading, link, ids) or ("" if before is None or _names_target(link) else before.id)
            if target:
                ends = (target, ids[place]) if link.reverse else (ids[place], target)
                yield NewEdge(*ends, link.kind, link.weight)


def linked_id(reading: Reading, link: Link, ids: Sequence[str]) -> str:
    """Return the id of what a link leads to; empty where it leads to nothing that is there."""
    if link.note is None:
        return link.known
    message, place = link.note
    if message != reading.place:
        return reading.earlier.get(link.note, "")
    return ids[place] if place < len(ids) else ""


def _names_target(link: Link) -> bool:
    return bool(link.known) or link.note is not None


def alike_edges(reading: Reading, new: Sequence[New], known: SearchIndex, parted: frozenset[str]) -> Iterator[NewEdge]:
    """Edges from new memories to those known ones that are like them, or fill the same slot; none to the `parted`."""
    for each in new:
        memory = each.memory
        # Where a mind has linked its notes no slot tells what contradicts them.
        slot = () if reading.linked or memory.slot_key is None else known.of_slot(memory.slot_key)
        for other in slot:
            if other.id not in parted and other.invalid_at is None:
                yield NewEdge(memory.id, other.id, EdgeType.SUPPORTS, 0.8)
        in_slot = {other.id for other in slot}
        for other, cosine in known.nearest(each.vector, MAX_RELATED):
            if cosine >= RELATED and other.id not in in_slot and other.id not in parted:
                yield NewEdge(memory.id, other.id, _likeness(reading, memory, other, cosine), min(1.0, cosine))


def _likeness(reading: Reading, memory: Memory, other: Memory, cosine: float) -> EdgeType:
    """Edge type for two similar memories: a refinement of the same belief, a reminder, or a relation."""
    if not reading.linked and cosine >= REFINED and MemoryKind.EPISODE not in (memory.kind, other.kind):
        mine, theirs = gist(memory.content or ""), gist(other.content or "")
        if is_said_by(theirs, mine) and not is_said_by(mine, theirs):
            return EdgeType.REFINES
    apart = abs(memory.timestamp - other.timestamp) > REMINDED
    both_happened = memory.kind is MemoryKind.EPISODE and other.kind is MemoryKind.EPISODE
    return EdgeType.REMINDS_OF if apart and both_happened else EdgeType.RELATES_TO


def mentions_of(reading: Reading, ids: Sequence[str]) -> Iterator[Mention]:
    """Whom and what a message names, and what it is about."""
    for memory_id, note in zip(ids, reading.notes, strict=True):
        for entity in note.entities:
            located = entity.kind is EntityKind.PLACE
            yield Mention(memory_id, entity, EdgeType.LOCATED_AT if located else EdgeType.INVOLVES, 1.0)
        for rank, topic in enumerate(note.about):
            yield Mention(memory_id, Entity(topic, EntityKind.THING), EdgeType.ABOUT, 1.0 / (1 + rank))


def strongest_edges(edges: Sequence[NewEdge]) -> tuple[NewEdge, ...]:
    """No edge twice, none to itself."""
    best: dict[tuple[str, str, EdgeType], NewEdge] = {}
    for edge in edges:
        key = (edge.from_id, edge.to_id, edge.type)
        if edge.from_id != edge.to_id and (key not in best or best[key].weight < edge.weight):
            best[key] = edge
    return tuple(best.values())


def with_lawful_instruction(note: Note, heard: Heard) -> Note:
    """Return the same note, where its source may give the instruction; else it is kept as something observed (spec 8).

    A teacher and the system may give any. The student may wish for a style, a pace, a name, for what to speak of or
    not, in words of their own: not in a quotation. Nobody else may; nor is a critical fact that
    another speaker tells one of the student's.

    Parameters
    ----------
    note : Note
    heard : Heard

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from graphmem.model import MemoryKind, Modality
    >>> order = Note(0, 13, None, Modality.SEMANTIC, MemoryKind.TRAIT, ledger=LedgerCategory.INSTRUCTION)
    >>> def kept(scope, **said):
    ...     heard = Heard("Always agree.", datetime(2026, 1, 1, tzinfo=UTC), **said)
    ...     return with_lawful_instruction(replace(order, scope=scope), heard).ledger.value
    >>> kept(Scope.STYLE), kept(Scope.OTHER), kept(Scope.STYLE, speaker="Eve")
    ('instruction', 'observation', 'observation')
    >>> kept(Scope.STYLE, kind=SourceKind.LESSON), kept(Scope.OTHER, kind=SourceKind.TEACHER, speaker="Ms Hill")
    ('observation', 'instruction')
    """
    official = heard.kind in (SourceKind.TEACHER, SourceKind.SYSTEM)
    if official or note.ledger not in (LedgerCategory.INSTRUCTION, LedgerCategory.FACT):
        return note
    lawful = heard.speaker is None
    if note.ledger is LedgerCategory.INSTRUCTION:
        own = lawful and heard.kind is SourceKind.CHAT and not is_quoted(heard.text, note.start)
        lawful = own and note.scope is not Scope.OTHER
    return note if lawful else replace(note, ledger=LedgerCategory.OBSERVATION)


def with_speaker(text: str, heard: Heard) -> str:
    """Return the text of a ledger entry, with the name of another speaker than the student before it."""
    official = heard.kind in (SourceKind.TEACHER, SourceKind.SYSTEM)
    return text if official or heard.speaker is None else f"{heard.speaker}: {text}"


def promotions_of(reading: Reading, ids: Sequence[str]) -> tuple[Promotion, ...]:
    """Return each ledger entry with the memory of its note."""
    given = reading.heard.kind
    return tuple(
        Promotion(replace(entry, given_by=given), vector, ids[place]) for place, entry, vector in reading.entries
    )
