"""Decisions of memory formation, as pure functions: from what was read in a source to all that is written of it.

Near duplicates reinforce instead of being copied; edges go to what is known already (spec 7).
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import pairwise

from graphmem.flows.detection_plan import completed, diverges, said_the_same
from graphmem.flows.ending import known_memory, restoring, with_stems
from graphmem.flows.formation_effects import END_EFFECTS, holder_of, overtaken_by, retracted_memories, touched_memories
from graphmem.flows.formation_reading import Ended, Marked, Reading, new_memory, reinforced_memory
from graphmem.flows.uncertainty_plan import (
    CORRECTED_BY,
    REASSURED_BY,
    Settling,
    Testimony,
    answered,
    contradiction,
    settled,
    shifted_tolerance,
)
from graphmem.maths.features import SEGMENT_GAP
from graphmem.model import (
    DetectionContext,
    EdgeType,
    Entity,
    EntityKind,
    Heard,
    LedgerCategory,
    Level,
    Link,
    LinkKind,
    Memory,
    MemoryKind,
    MemoryRole,
    Modality,
    Note,
    Question,
    Reliability,
    Resolution,
    Scope,
    SourceKind,
    Uncertainty,
    UncertaintyState,
)
from graphmem.search.index import SearchIndex
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
from graphmem.text.doc import Doc, doc_of
from graphmem.text.lexicon import STOP_WORDS
from graphmem.text.reminders import is_quoted
from graphmem.text.revision import Effect


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
            *renewed(_revived(again), invalid_at=None, reliability=Reliability.RELIABLE),
            *renewed(outdated, outdated_at=reading.source.at),
            *_past_already(formed),
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


def _past_already(formed: _Formed) -> Iterator[Update]:
    for memory_id, later in formed.overtaken.items():
        yield from renewed([memory_id], invalid_at=later.timestamp, reliability=Reliability.SUPERSEDED)


def _named_twin(reading: Reading, note: Note, marked: Marked, formed: _Formed, known: SearchIndex) -> Memory | None:
    """Return the memory that a note says again: as its link names it, or of the very words."""
    for link in note.links:
        if link.kind is LinkKind.SAME:
            target = linked_id(reading, link, formed.ids)
            new = next((each.memory for each in formed.new if each.memory.id == target), None)
            if (twin := new or known.get(holder_of(known, target))) is not None:
                return twin
    return known.find(marked.content_hash)


LINKED_EFFECTS = {
    LinkKind.REFINES: Effect.REFINES,
    LinkKind.ENDS: Effect.ENDS,
    LinkKind.SETTLES: Effect.ENDS,
    LinkKind.CONTRADICTS: Effect.CONTRADICTS,
}


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


def _revived(again: Mapping[str, Reinforced]) -> tuple[str, ...]:
    """Return memories that had been ended and are said again."""
    return tuple(memory_id for memory_id, each in again.items() if each.memory.invalid_at is not None)


RELATED = 0.5
"""Cosine from which two memories are related, and the weight of that edge."""
REFINED = 0.7
"""Cosine from which a belief that says more refines one that says less."""
MAX_RELATED = 3
"""Most memories a new one is related to by likeness."""
REMINDED = timedelta(days=7)
"""Likeness over so long a time is being reminded."""


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
