"""Decisions of memory formation, as pure functions: from what was read in a source to all that is written of it.

Near duplicates reinforce instead of being copied; edges go to what is known already (spec 7).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import pairwise

from graphmem.flows.ending import as_memory, known_memory, restoring, with_stems
from graphmem.flows.uncertainty_plan import (
    CORRECTED_BY,
    REASSURED_BY,
    Settling,
    Testimony,
    answered,
    completed,
    conflict_candidates,
    contradiction,
    diverges,
    is_change,
    is_contradiction,
    pair_of,
    revisable,
    said_the_same,
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
    LinkKind,
    Memory,
    MemoryKind,
    MemoryRole,
    Modality,
    Note,
    NotePlace,
    PairVerdict,
    Question,
    Reliability,
    Resolution,
    Scope,
    Source,
    SourceKind,
    StatementPair,
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
from graphmem.text.lexicon import STOP_WORDS
from graphmem.text.normalize import said as plain
from graphmem.text.reminders import is_quoted
from graphmem.text.revision import NO_EFFECT, RATHER_ENDED, Effect, Judgement, Revisable, ending_chance, judgement
from graphmem.text.stems import is_past

TENTATIVE = 0.5
"""Gravity, and share of strength, of what was said and is not consolidated (spec 6)."""
STRENGTH = 0.5
"""Strength of a new memory; each reinforcement adds a fifth of what is missing to 1."""
CANDIDATES = 12
"""Nearest memories that a new statement is compared with."""
END_EFFECTS = (Effect.ENDS, Effect.CORRECTS, Effect.OUTDATES)
"""Effects that close a memory, or mark it as holding in part."""
RETRACTED, RETRACTED_MARGIN = 0.4, 0.05
"""Cosine from which a memory is the one that is to be forgotten, and what others may be farther."""
MAX_KNOWN, MAX_ENTRIES, MAX_FACTS = 15, 8, 4
"""Most known memories, ledger entries and facts that a mind is shown with some messages."""
_Touched = tuple[Memory, Effect]
LINKED_EFFECTS = {
    LinkKind.REFINES: Effect.REFINES,
    LinkKind.ENDS: Effect.ENDS,
    LinkKind.SETTLES: Effect.ENDS,
    LinkKind.CONTRADICTS: Effect.CONTRADICTS,
}
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
    best: dict[str, float] = {}
    for vector in vectors:
        for memory, cosine in known.nearest(vector, 4 * MAX_KNOWN):
            holds = memory.invalid_at is None or memory.invalid_at > at
            if holds and memory.role not in OF_A_SITTING:
                best[memory.id] = max(cosine, best.get(memory.id, -1.0))
        for summary, statement, cosine in known.nearest_statements(vector, MAX_KNOWN):
            if summary.invalid_at is None:
                best[statement.id] = max(cosine, best.get(statement.id, -1.0))
    nearest = sorted(best, key=lambda each: -best[each])[:MAX_KNOWN]
    return [each for each in (known_memory(known, one) for one in nearest) if each is not None]


@dataclass(frozen=True)
class _Comparison:
    """A note of a source, compared with what is known."""

    reading: Reading
    note: Note
    marked: Marked
    known: SearchIndex

    @cached_property
    def said(self) -> Revisable:
        """The statement of the note."""
        marked, note, reading = self.marked, self.note, self.reading
        told = marked.content, marked.words, reading.source.at, note.aspect, note.slot
        return Revisable(*told, marked.valence, marked.vector, reading.heard.text)

    @cached_property
    def near(self) -> Sequence[tuple[Memory, float]]:
        """The nearest memories, each with its cosine."""
        return self.known.nearest(self.marked.vector, CANDIDATES)

    @cached_property
    def candidates(self) -> Sequence[tuple[Memory, float]]:
        """The nearest memories and those of the same slot, each with its cosine."""
        slot = self.known.of_slot(self.marked.slot_key) if self.marked.slot_key is not None else ()
        known = {memory.id for memory, _ in self.near}
        return [*self.near, *((each, self._cosine(each)) for each in slot if each.id not in known)]

    def _cosine(self, memory: Memory) -> float:
        vector = self.known.vector(memory.id)
        return 0.0 if vector is None else float(vector @ self.marked.vector)

    def before(self, memory: Memory, vector: Vector | None = None) -> Revisable:
        """Return a known memory as it is compared; `vector` of one that is a statement of a summary."""
        vector = self.known.vector(memory.id) if vector is None else vector
        return revisable(memory, vector, self.note.slot, self.marked.slot_key)

    def verdict_on(self, memory: Memory, cosine: float, vector: Vector | None = None) -> Judgement:
        """Return what the note does to a memory, by what it says and networks, else by a mind's verdict."""
        old = self.before(memory, vector)
        came = judgement(self.said, old, cosine, networks=self.is_known_to_networks(memory))
        judged = self.reading.verdicts.get((self.marked.content_hash, memory.id))
        return came if judged is None or came.effect is not Effect.NONE else _by_verdict(judged, self.said, old)

    def is_known_to_networks(self, memory: Memory) -> bool:
        """Return whether the networks know such statements: of students to a tutor, not of the subject matter."""
        matter = self.note.kind is MemoryKind.CONCEPT and memory.kind is MemoryKind.CONCEPT
        return not (self.reading.heard.observed or matter)


def _surest(judged: Sequence[tuple[Memory, Judgement]]) -> list[_Touched]:
    """Return what is touched; of what only networks find ended the surest alone, where nothing else has ended."""
    surest = max((found.chance for _, found in judged if found.effect in END_EFFECTS), default=0.0)
    touched = ((memory, found) for memory, found in judged if found.effect is not Effect.NONE)
    return [(m, found.effect) for m, found in touched if found.effect not in END_EFFECTS or found.chance == surest]


def touched_memories(reading: Reading, note: Note, marked: Marked, known: SearchIndex) -> list[tuple[Memory, Effect]]:
    """Return known memories that a new statement says again, refines or ends, as attributes and networks tell."""
    same = known.find(marked.content_hash)
    if same is not None and same.invalid_at is None:
        return [(same, Effect.SAME)]
    compared = _Comparison(reading, note, marked, known)
    able = [(memory, cosine) for memory, cosine in compared.candidates if _comparable(memory, reading)]
    touched = _surest([(memory, compared.verdict_on(memory, cosine)) for memory, cosine in able])
    # What had ended and is said again ends what has taken its place.
    touched = touched if same is None else [(same, Effect.SAME), *touched]
    touched += _touched_statements(compared)
    if reading.heard.asks:
        # Who asks for what was told tells of no change: "What did I do for my talk?"
        touched = [each for each in touched if each[1] not in END_EFFECTS]
    if not any(found is Effect.SAME for _, found in touched):
        touched += _said_again(compared)
    return touched


def overtaken_by(reading: Reading, note: Note, marked: Marked, known: SearchIndex) -> Memory | None:
    """Return the first later memory of the same person that ends a statement which arrives late; None where none does.

    What speaks of a later time decides, not what arrives last (spec 7).
    """
    compared = _Comparison(reading, note, marked, known)
    later = [each for each in compared.candidates if _holds(each[0], reading) and each[0].timestamp > reading.source.at]
    for memory, cosine in sorted(later, key=lambda each: (each[0].timestamp, each[0].id)):
        newer = compared.before(memory)
        came = judgement(newer, compared.said, cosine, networks=compared.is_known_to_networks(memory)).effect
        if came in (Effect.ENDS, Effect.CONTRADICTS):
            return memory
    return None


def _said_again(compared: _Comparison) -> list[_Touched]:
    """Return the nearest memory that has ended and is said again, in the same tense; work of a lesson begins anew."""
    if compared.note.aspect is not None:
        return []
    said = compared.said
    for memory, cosine in compared.near:
        before = compared.before(memory)
        again = _has_ended(memory, compared.reading) and _tells_past(said) == _tells_past(before)
        if again and judgement(said, before, cosine, networks=False).effect is Effect.SAME:
            return [(memory, Effect.SAME)]
    return []


def _tells_past(told: Revisable) -> bool:
    return any(map(is_past, Doc(told.words).plain_words))


def _has_ended(memory: Memory, reading: Reading) -> bool:
    """Return whether a statement of the same person, said before, was retired."""
    ended = memory.invalid_at is not None and memory.reliability is Reliability.SUPERSEDED
    earlier = memory.role is MemoryRole.SAID and memory.timestamp <= reading.source.at
    return ended and earlier and memory.aspect is None and memory.speaker == reading.heard.speaker


def _touched_statements(compared: _Comparison) -> Iterator[_Touched]:
    """Statements of summaries that a new one ends or denies, and summaries of which it says one again or better."""
    known, marked = compared.known, compared.marked
    found = {each.id: (summary, each) for summary, each, _ in known.nearest_statements(marked.vector, CANDIDATES)}
    slot = known.statements_of_slot(marked.slot_key) if marked.slot_key is not None else ()
    for summary, each in (found | {each.id: (summary, each) for summary, each in slot}).values():
        memory = as_memory(summary, each)
        if each.vector is None or not _comparable(memory, compared.reading):
            continue
        cosine = float(each.vector @ marked.vector)
        came = compared.verdict_on(memory, cosine, each.vector).effect
        if came is not Effect.NONE:
            yield summary if came in (Effect.SAME, Effect.REFINES) else memory, came


def _by_verdict(judged: PairVerdict, said: Revisable, old: Revisable) -> Judgement:
    """Return the effect that a mind's verdict gives a statement, where nothing else tells one."""
    if is_change(judged):
        # Who sold the Honda still drives the Toyota, whatever the network says of cars.
        one_matter = (said.slot is not None and said.slot == old.slot) or not said.stems.isdisjoint(old.stems)
        return Judgement(Effect.ENDS) if one_matter and ending_chance(said, old) >= RATHER_ENDED else NO_EFFECT
    return Judgement(Effect.CONTRADICTS) if is_contradiction(judged) else NO_EFFECT


def consolidation_pairs(
    reading: Reading, known: SearchIndex, doubts: Sequence[Uncertainty]
) -> list[tuple[str, str, StatementPair]]:
    """Pairs that a mind is asked about before what was read is kept: content hash, id of the known memory, the pair.

    Only where no reason in words decides already what a new statement does to a known one.

    Source: spec 12 (consolidation).
    """
    found = []
    for place, (extract, marked) in enumerate(zip(reading.notes, reading.marked, strict=True), 1):
        if extract.aspect is not None or touched_memories(reading, extract, marked, known):
            continue
        said = new_memory(reading, extract, marked, place)
        for memory in conflict_candidates(known, revisable(said, marked.vector), doubts, said.slot_key, said.speaker):
            found.append((marked.content_hash, memory.id, pair_of(memory, said)))
    return found


def _comparable(memory: Memory, reading: Reading) -> bool:
    """Return whether a memory may be said again or ended by what the same person says now."""
    return _holds(memory, reading) and memory.timestamp <= reading.source.at


def _holds(memory: Memory, reading: Reading) -> bool:
    holds = memory.invalid_at is None and memory.reliability is not Reliability.SUPERSEDED
    return holds and memory.role in (MemoryRole.SAID, MemoryRole.BELIEF) and memory.speaker == reading.heard.speaker


def retracted_memories(reading: Reading, known: SearchIndex) -> Iterator[Memory]:
    """Memories that the student asks to forget, or says are not true."""
    for vector in reading.retracted:
        if vector is None:
            newest = next((m for m in known.latest(CANDIDATES) if _comparable(m, reading)), None)
            gap = math.inf if newest is None else (reading.source.at - newest.timestamp).total_seconds()
            if newest is not None and gap < SEGMENT_GAP:
                yield newest
            continue
        statements = ((as_memory(s, part), c) for s, part, c in known.nearest_statements(vector, CANDIDATES))
        near = (*known.nearest(vector, CANDIDATES), *statements)
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
    doubts = _unheard_of(formed.doubts, open_doubts)
    ended = _all_ended(reading, formed, known)
    again = {memory_id: each for memory_id, each in formed.again.items() if memory_id not in ended}
    outdated = [memory_id for memory_id in dict.fromkeys(formed.outdated) if memory_id not in ended]
    left = restoring(known, (*ended, *outdated, *_sides(doubts, ended)))
    changes = Changes(
        known=version,
        inferred_by=reading.inferred_by,
        origin=Origin(reading.source.kind, reading.source.ref, reading.source.id, reading.source.at),
        formed=FormedSource(reading.snr, reading.scores.activity, reading.scores.features),
        rows=(
            *formed.new,
            *again.values(),
            *renewed(tuple(ended), invalid_at=reading.source.at, reliability=Reliability.SUPERSEDED),
            # What had been ended and is said again.
            *renewed(
                [i for i, each in again.items() if each.memory.invalid_at is not None],
                invalid_at=None,
                reliability=Reliability.RELIABLE,
            ),
            *renewed(outdated, outdated_at=reading.source.at),
            *(
                Update(memory_id, {"invalid_at": later.timestamp, "reliability": Reliability.SUPERSEDED})
                for memory_id, later in formed.overtaken.items()
            ),
            *renewed(_sides(doubts, ended), reliability=Reliability.CONTRADICTED),
            *left,
            *strongest_edges([*_edges(reading, formed, known, ended), *contradiction_edges(doubts)]),
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


def _edges(reading: Reading, formed: "_Formed", known: SearchIndex, ended: Mapping[str, Ended]) -> Iterator[NewEdge]:
    """Edges of what was formed to what it was said with, is like, refines and ends."""
    yield from said_edges(reading, formed.ids, known)
    yield from alike_edges(reading, formed.new, known, ended)
    yield from formed.refined
    yield from (NewEdge(i, m.id, EdgeType.TEMPORAL_EVOLUTION, 1.0) for i, m in formed.overtaken.items())
    yield from revision_edges(ended.values())


def _all_ended(reading: Reading, formed: "_Formed", known: SearchIndex) -> dict[str, Ended]:
    """Return what statements end or take back."""
    if reading.linked:
        return formed.ended
    return formed.ended | {m.id: Ended(m.id, None, Effect.CORRECTS) for m in retracted_memories(reading, known)}


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
    again, ended : by the memory's id
    outdated : ids of those of which a part holds no longer
    overtaken : later memories by which new ones, that arrive late, are past already
    refined : edges to what is refined
    closed : ledger entries and facts that end by themselves
    """

    new: list[New] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    again: dict[str, Reinforced] = field(default_factory=dict)
    ended: dict[str, Ended] = field(default_factory=dict)
    outdated: list[str] = field(default_factory=list)
    overtaken: dict[str, Memory] = field(default_factory=dict)
    refined: list[NewEdge] = field(default_factory=list)
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
        twin = next((memory for memory, effect in touched if effect is Effect.SAME), None)
        formed.ids.append(_keep_note(formed, reading, note, marked, twin))
        later = None if twin is not None else overtaken_by(reading, note, marked, known)
        if later is not None:
            formed.overtaken[formed.ids[-1]] = later
        for memory, came in touched:
            _apply(formed, reading, len(formed.ids) - 1, memory, came)
    if reading.linked:
        _follow_links(formed, reading, known)
    return formed


def _named_twin(reading: Reading, note: Note, marked: Marked, formed: _Formed, known: SearchIndex) -> Memory | None:
    """Return the memory that a note says again: as its link names it, or of the very words."""
    for link in note.links:
        if link.kind is LinkKind.SAME:
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
            effect = None if isinstance(link.kind, EdgeType) else LINKED_EFFECTS.get(link.kind)
            target = linked_id(reading, link, formed.ids)
            if effect is None or not target or target == formed.ids[place]:
                continue
            memory = new.get(target) or known_memory(known, target)
            if memory is not None:
                _apply(formed, reading, place, memory, effect)
            elif effect is Effect.ENDS:
                formed.closed.append(target)


def _apply(formed: _Formed, reading: Reading, place: int, memory: Memory, effect: Effect) -> None:
    """Note the effect of a note on a memory."""
    own_id, note, marked = formed.ids[place], reading.notes[place], reading.marked[place]
    if effect is Effect.REFINES:
        formed.refined.append(NewEdge(own_id, memory.id, EdgeType.REFINES, 1.0))
    elif effect is Effect.OUTDATES:
        formed.refined.append(NewEdge(own_id, memory.id, EdgeType.REFINES, 1.0))
        formed.outdated.append(memory.id)
    elif effect in END_EFFECTS and memory.id != own_id:
        formed.ended[memory.id] = Ended(memory.id, own_id, effect)
    elif effect is Effect.CONTRADICTS:
        formed.doubts.append(_doubt(memory, own_id, note, marked, reading))


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


def _unheard_of(doubts: Iterable[Recorded], known: Iterable[Uncertainty]) -> list[Recorded]:
    """Return new doubts, but for those between two memories that are in doubt already."""
    pairs = {frozenset((doubt.a_id, doubt.b_id)) for doubt in known}
    return [each for each in doubts if frozenset((each.uncertainty.a_id, each.uncertainty.b_id)) not in pairs]


def _doubt(old: Memory, new_id: str, note: Note, marked: Marked, reading: Reading) -> Recorded:
    """Return a contradiction between two statements of which neither can be believed over the other."""
    verdict = reading.verdicts.get((marked.content_hash, old.id))
    by_words = "Two statements of one matter deny each other, and no word tells of a change."
    why, about = by_words if verdict is None else verdict.reasoning, ", ".join(note.about) or marked.content
    context = DetectionContext.CONSOLIDATION
    return Recorded(contradiction(old, new_id, note.kind, context, reading.source.at, why, about), new=True)


def _sides(doubts: Sequence[Recorded], ended: Mapping[str, Ended]) -> list[str]:
    """Return the memories that contradict each other, but for those that have ended."""
    sides = (i for each in doubts for i in (each.uncertainty.a_id, each.uncertainty.b_id))
    return [i for i in dict.fromkeys(sides) if i is not None and i not in ended]


def revision_edges(ended: Iterable[Ended]) -> Iterator[NewEdge]:
    """Edges from what was to what is now, and from what puts right to what was wrong."""
    for each in ended:
        if each.by_id is not None and each.effect is Effect.ENDS:
            yield NewEdge(each.id, each.by_id, EdgeType.TEMPORAL_EVOLUTION, 1.0)
        elif each.by_id is not None:
            yield NewEdge(each.by_id, each.id, EdgeType.REFINES, 1.0)


def contradiction_edges(doubts: Iterable[Recorded]) -> Iterator[NewEdge]:
    """Edges between the sides of new doubts."""
    for each in doubts:
        if each.uncertainty.b_id is not None:
            yield NewEdge(each.uncertainty.b_id, each.uncertainty.a_id, EdgeType.CONTRADICTS, 1.0)


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


def alike_edges(
    reading: Reading, new: Sequence[New], known: SearchIndex, ended: Mapping[str, Ended]
) -> Iterator[NewEdge]:
    """Edges from new memories to those known ones that are like them, or fill the same slot."""
    for each in new:
        memory = each.memory
        # Where a mind has linked its notes no slot tells what contradicts them.
        slot = () if reading.linked or memory.slot_key is None else known.of_slot(memory.slot_key)
        for other in slot:
            if other.id in ended or other.invalid_at is not None:
                continue
            type_ = EdgeType.CONTRADICTS if diverges(memory, other) else EdgeType.SUPPORTS
            yield NewEdge(memory.id, other.id, type_, 0.8)
        in_slot = {other.id for other in slot}
        for other, cosine in known.nearest(each.vector, MAX_RELATED):
            if cosine >= RELATED and other.id not in in_slot and other.id not in ended:
                yield NewEdge(memory.id, other.id, _likeness(reading, memory, other, cosine), min(1.0, cosine))


def _likeness(reading: Reading, memory: Memory, other: Memory, cosine: float) -> EdgeType:
    """Edge type for two similar memories: a refinement of the same belief, a reminder, or a relation."""
    if not reading.linked and cosine >= REFINED and MemoryKind.EPISODE not in (memory.kind, other.kind):
        mine, theirs = _content_words(memory), _content_words(other)
        if theirs < mine and said_the_same(memory.content or "", other.content or ""):
            return EdgeType.REFINES
    apart = abs(memory.timestamp - other.timestamp) > REMINDED
    both_happened = memory.kind is MemoryKind.EPISODE and other.kind is MemoryKind.EPISODE
    return EdgeType.REMINDS_OF if apart and both_happened else EdgeType.RELATES_TO


def _content_words(memory: Memory) -> frozenset[str]:
    return frozenset(Doc(memory.content or "").plain_words) - STOP_WORDS


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
