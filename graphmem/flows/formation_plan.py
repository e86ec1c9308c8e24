"""Decisions of memory formation, as pure functions: from what was read in a source to all that is written of it.

Near duplicates reinforce instead of being copied; edges go to what is known already (spec 7).
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import pairwise

from graphmem.flows.conflict_plan import (
    NewStatement,
    conflict_candidates,
    diverges,
    is_change,
    is_contradiction,
    pair_of,
    said_the_same,
    words_of,
)
from graphmem.flows.detection_plan import completed
from graphmem.flows.gravity import gravity_now
from graphmem.flows.restoring import as_memory, known_memory, restoring
from graphmem.flows.uncertainty_plan import (
    CORRECTED_BY,
    Settling,
    Testimony,
    answered,
    past_of,
    present_of,
    settled,
    severity_of,
    shifted_tolerance,
)
from graphmem.maths import importance
from graphmem.maths.features import SEGMENT_GAP
from graphmem.maths.gravity import boosted
from graphmem.maths.salience import salience
from graphmem.model import (
    DetectionContext,
    Domain,
    EdgeType,
    Entity,
    EntityKind,
    Extract,
    Extraction,
    Heard,
    LedgerCategory,
    LedgerEntry,
    Level,
    Memory,
    MemoryKind,
    MemoryRole,
    PairVerdict,
    Reliability,
    Reminder,
    Resolution,
    Source,
    SourceKind,
    StatementPair,
    Uncertainty,
    UncertaintyState,
    UncertaintyType,
    Vector,
)
from graphmem.search.index import SearchIndex
from graphmem.store.changes import (
    Changes,
    FormedSource,
    Mention,
    New,
    NewEdge,
    Origin,
    Promotion,
    Reinforced,
    Span,
    merged,
    renewed,
)
from graphmem.store.uncertainties import Recorded
from graphmem.text.doc import Doc, doc_of
from graphmem.text.information import information
from graphmem.text.lexicon import STOP_WORDS
from graphmem.text.normalize import cleaned
from graphmem.text.reminders import is_quoted
from graphmem.text.revision import UNLIKELY_ENDED, Effect, Revisable, effect, ended_chance

SAME_COSINE = 0.95
"""Cosine from which two memories with the same numbers, negations and speaker say the same thing."""
RELATED = 0.5
"""Cosine from which two memories are related, and the weight of that edge."""
REFINED = 0.7
"""Cosine from which a belief that says more refines one that says less."""
CANDIDATES = 12
"""Nearest memories that a new statement is compared with."""
END_EFFECTS = (Effect.ENDS, Effect.CORRECTS)
"""Effects that close a memory."""
RETRACTED, RETRACTED_MARGIN = 0.4, 0.05
"""Cosine from which a memory is the one that is to be forgotten, and what others may be farther."""
MAX_RELATED = 3
"""Most memories a new one is related to by likeness."""
REMINDED = timedelta(days=7)
"""Likeness over so long a time is being reminded."""
TENTATIVE = 0.5
"""Gravity, and share of strength, of what was said and is not consolidated (spec 6)."""
STRENGTH = 0.5
"""Strength of a new memory; each reinforcement adds a fifth of what is missing to 1."""
MAX_KNOWN = 8
"""Most known memories that a mind is shown with some messages."""
KNOWN_FROM = 0.2
"""Cosine to a message from which a known memory is shown."""


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
    """Computed features of one extract: its embedding, its domain, how pleasant it sounds, and its keyed hashes."""

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
class RetractionRequest:
    """Something the student asks to forget or says is not true; `vector` is None for what was said last."""

    vector: Vector | None = field(repr=False)


@dataclass(frozen=True)
class Reading:
    """Everything that was found out about one source, before it becomes what is written.

    key : what the ids of its memories are made with
    marked : one for each memory of the extraction
    reminders : a ledger entry and its embedding for each reminder of the extraction
    valence : of the whole message, -1 to 1
    clarifies : the whole message, as the episode of a clarification, where doubts are open
    verdicts : on a new statement, by its content hash, beside a known memory, by its id
    """

    key: str
    source: Source
    heard: Heard
    snr: int
    scores: MessageScores
    extraction: Extraction
    marked: tuple[Marked, ...]
    reminders: tuple[tuple[LedgerEntry, Vector], ...]
    inferred_by: str
    retracted: tuple[RetractionRequest, ...] = ()
    valence: float = 0.0
    verdicts: Mapping[tuple[str, str], PairVerdict] = field(default_factory=dict)
    clarifies: tuple[Extract, Marked] | None = None


def planned_formation(
    reading: Reading,
    known: SearchIndex,
    version: int,
    open_doubts: Sequence[Uncertainty] = (),
    tolerance: float = 0.5,
) -> Changes:
    """Everything that is formed of one source.

    Parameters
    ----------
    reading : Reading
    known : SearchIndex, the student's memories as of `version`; only read
    open_doubts : about them, not settled
    tolerance : of the companion, 0.2 to 0.8

    Source: spec 6, 7, 8, 12.
    """
    new: list[New] = []
    again: dict[str, Reinforced] = {}
    ended: dict[str, Ended] = {}
    refined: list[NewEdge] = []
    doubts: list[Recorded] = []
    ids: list[str] = []
    for extract, marked in zip(reading.extraction.memories, reading.marked, strict=True):
        span = Span(extract.start, extract.end)
        touched = _touched(reading, extract, marked, known)
        twin = next((memory for memory, effect in touched if effect is Effect.SAME), None)
        if twin is None and (same := [n for n in new if n.memory.content_hash == marked.content_hash]):
            ids.append(same[0].memory.id)
        elif twin is None:
            new.append(New(_memory(reading, extract, marked, len(new) + 1), marked.vector, span))
            ids.append(new[-1].memory.id)
        else:
            again.setdefault(twin.id, Reinforced(_reinforced(twin, reading), span))
            ids.append(twin.id)
        refined += [NewEdge(ids[-1], m.id, EdgeType.REFINES, 1.0) for m, e in touched if e is Effect.REFINES]
        ended |= {m.id: Ended(m.id, ids[-1], e) for m, e in touched if e in END_EFFECTS and m.id != ids[-1]}
        doubts += [_doubt(m, ids[-1], extract, marked, reading) for m, e in touched if e is Effect.CONTRADICTS]
    doubts = _unheard_of(doubts, open_doubts)
    ended |= {m.id: Ended(m.id, None, Effect.CORRECTS) for m in _retracted(reading, known)}
    told, revised = _revised(reading, ids, known)
    ended |= {memory_id: Ended(memory_id, None, Effect.ENDS) for memory_id in told if memory_id not in ended}
    left = restoring(known, (*ended, *_sides(doubts, ended)))
    again = {memory_id: each for memory_id, each in again.items() if memory_id not in ended}
    edges = [*revised, *_said_edges(reading, ids, known), *_alike_edges(reading, new, known, ended)]
    edges += [*refined, *_revision_edges(ended.values()), *_contradictions(doubts)]
    changes = Changes(
        known=version,
        inferred_by=reading.inferred_by,
        origin=Origin(reading.source.kind, reading.source.ref, reading.source.id, reading.source.at),
        formed=FormedSource(reading.snr, reading.scores.activity, reading.scores.features),
        new=tuple(new),
        reinforced=tuple(again.values()),
        updated=(
            *renewed(tuple(ended), invalid_at=reading.source.at, reliability=Reliability.SUPERSEDED),
            *renewed(_revived(again), invalid_at=None, reliability=Reliability.RELIABLE),
            *renewed(_sides(doubts, ended), reliability=Reliability.CONTRADICTED),
            *left.emptied,
        ),
        reworded=(*_past(ended.values(), known), *_present(again)),
        edges=_strongest(edges),
        mentions=tuple(_mentions(reading, ids)),
        ledger=_promotions(reading, ids),
        ended=tuple(ended),
        wrong=tuple(each.id for each in ended.values() if each.effect is Effect.CORRECTS),
        doubts=tuple(doubts),
        restored=left.restored,
        rewritten=left.rewritten,
    )
    changes = completed(changes, reading.key, reading.source.at, open_doubts, known)
    own = reading.heard.speaker is None and reading.source.kind is SourceKind.CHAT
    return _with_settled(changes, reading, known, open_doubts, tolerance) if own and open_doubts else changes


def _with_settled(
    changes: Changes, reading: Reading, known: SearchIndex, open_doubts: Sequence[Uncertainty], tolerance: float
) -> Changes:
    """The same, with the doubts settled that the student's message answers."""
    again, ended = frozenset(each.memory.id for each in changes.reinforced), frozenset(changes.ended)
    told = Testimony(doc_of(reading.heard), reading.source.at, again, ended, reading.valence)
    for doubt, winner_id in answered(open_doubts, told, known):
        a, b = known.get(doubt.a_id), known.get(doubt.b_id or "")
        if a is None or b is None:
            continue
        by = Settling(Resolution.USER_CLARIFIED, winner_id, episode=_episode(changes, reading))
        done = settled(doubt, a, b, by, changes.known or 0, reading.source.at)
        put_right = doubt.state is UncertaintyState.SURFACED
        changes = replace(
            changes,
            # What the message itself has ended ends with it.
            updated=merged((*done.updated, *changes.updated)),
            reworded=(*changes.reworded, *done.reworded),
            new=(*changes.new, *done.new),
            edges=_strongest((*changes.edges, *done.edges)),
            ended=tuple(dict.fromkeys((*changes.ended, *done.ended))),
            settled=(*changes.settled, *done.settled),
            tolerance=shifted_tolerance(tolerance, CORRECTED_BY) if put_right else changes.tolerance,
        )
    return changes


def _episode(changes: Changes, reading: Reading) -> New | None:
    """The episode of a clarification; none where something was formed of the message already."""
    if changes.new or reading.clarifies is None:
        return None
    extract, marked = reading.clarifies
    memory = _memory(reading, extract, marked, 1, MemoryRole.SAID)
    return New(replace(memory, kind=MemoryKind.EPISODE), marked.vector, Span(extract.start, extract.end))


def _unheard_of(doubts: Iterable[Recorded], known: Iterable[Uncertainty]) -> list[Recorded]:
    """New doubts, but for those between two memories that are in doubt already."""
    pairs = {frozenset((doubt.a_id, doubt.b_id)) for doubt in known}
    return [each for each in doubts if frozenset((each.uncertainty.a_id, each.uncertainty.b_id)) not in pairs]


def _doubt(old: Memory, new_id: str, extract: Extract, marked: Marked, reading: Reading) -> Recorded:
    """A contradiction between two statements of which neither can be believed over the other."""
    verdict = reading.verdicts.get((marked.content_hash, old.id))
    by_words = "Two statements of one matter deny each other, and no word tells of a change."
    record = Uncertainty(
        id=f"uncertainty-{old.id}-{new_id}",
        type=UncertaintyType.CONTRADICTION,
        severity=severity_of(old.kind, extract.kind),
        detection_context=DetectionContext.CONSOLIDATION,
        temporal_signal=False,
        a_id=old.id,
        b_id=new_id,
        created_at=reading.source.at,
        reasoning=by_words if verdict is None else verdict.reasoning,
        surface_context=", ".join(extract.about) or extract.content,
    )
    return Recorded(record)


def _sides(doubts: Sequence[Recorded], ended: Mapping[str, Ended]) -> list[str]:
    """The memories that contradict each other, but for those that have ended."""
    sides = (i for each in doubts for i in (each.uncertainty.a_id, each.uncertainty.b_id))
    return [i for i in dict.fromkeys(sides) if i is not None and i not in ended]


def _revised(reading: Reading, ids: Sequence[str], known: SearchIndex) -> tuple[list[str], list[NewEdge]]:
    """Known memories that hold no longer, by their ids, and edges from what ends or refines known ones."""
    ended: dict[str, None] = {}
    edges = []
    for memory_id, extract in zip(ids, reading.extraction.memories, strict=True):
        old = known_memory(known, extract.ends or extract.refines or "")
        if old is None or old.id in ids or old.invalid_at is not None or old.timestamp > reading.source.at:
            continue
        if extract.ends is not None:
            ended[old.id] = None
            edges.append(NewEdge(old.id, memory_id, EdgeType.TEMPORAL_EVOLUTION, extract.confidence))
        else:
            edges.append(NewEdge(memory_id, _holder(known, old.id), EdgeType.REFINES, extract.confidence))
    return list(ended), edges


def _holder(known: SearchIndex, memory_id: str) -> str:
    """The summary that holds a statement, or the memory itself."""
    found = known.statement(memory_id) if known.get(memory_id) is None else None
    return memory_id if found is None else found[0].id


def known_memories(vectors: Sequence[Vector], known: SearchIndex) -> tuple[Memory, ...]:
    """Statements that messages may say again, refine or end: the nearest that hold now, oldest first.

    Parameters
    ----------
    vectors : of the messages
    known : SearchIndex
    """
    best: dict[str, float] = {}
    for vector in vectors:
        for memory, cosine in known.nearest(vector, 4 * MAX_KNOWN):
            says = memory.role in {MemoryRole.SAID, MemoryRole.BELIEF} and memory.invalid_at is None
            if says and cosine >= KNOWN_FROM:
                best[memory.id] = max(cosine, best.get(memory.id, 0.0))
        for summary, statement, cosine in known.nearest_statements(vector, MAX_KNOWN):
            if summary.invalid_at is None and cosine >= KNOWN_FROM:
                best[statement.id] = max(cosine, best.get(statement.id, 0.0))
    nearest = sorted(best, key=lambda each: -best[each])[:MAX_KNOWN]
    found = [each for each in (known_memory(known, one) for one in nearest) if each is not None]
    return tuple(sorted(found, key=lambda memory: (memory.timestamp, memory.id)))


def _touched(reading: Reading, extract: Extract, marked: Marked, known: SearchIndex) -> list[tuple[Memory, Effect]]:
    """Known memories that a new statement says again, refines or ends."""
    same = None if extract.same is None else known.get(_holder(known, extract.same))
    same = same or known.find(marked.content_hash)
    if same is not None and same.invalid_at is None:
        return [(same, Effect.SAME)]
    near = known.nearest(marked.vector, CANDIDATES)
    slot = known.of_slot(marked.slot_key) if marked.slot_key is not None else []
    candidates = {memory.id: (memory, cosine) for memory, cosine in near}
    candidates |= {m.id: (m, _cosine(known, m, marked)) for m in slot if m.id not in candidates}
    said = _told(reading, extract, marked)
    # What had ended and is said again ends what has taken its place.
    touched: list[tuple[Memory, Effect, float]] = [] if same is None else [(same, Effect.SAME, 1.0)]
    for memory, cosine in candidates.values():
        if memory is not same and _comparable(memory, reading):
            old = _remembered(memory, known, extract, marked)
            found = effect(said, old, cosine)
            if found is Effect.NONE:
                found = _by_verdict(reading.verdicts.get((marked.content_hash, memory.id)), said, old)
            if found is not Effect.NONE:
                touched.append((memory, found, cosine))
    touched += _touched_statements(reading, extract, marked, known)
    # One thing is put right at a time: what is nearest.
    corrects = any(e is Effect.CORRECTS for _, e, _ in touched)
    nearest = max((cosine for _, e, cosine in touched if e in END_EFFECTS), default=0.0)
    return [(m, e) for m, e, cosine in touched if not corrects or e not in END_EFFECTS or cosine == nearest]


def _touched_statements(
    reading: Reading, extract: Extract, marked: Marked, known: SearchIndex
) -> Iterator[tuple[Memory, Effect, float]]:
    """Statements of summaries that a new one ends or denies, and summaries of which it says one again or better."""
    found = {
        each.id: (summary, each, cosine)
        for summary, each, cosine in known.nearest_statements(marked.vector, CANDIDATES)
    }
    for summary, each in known.statements_of_slot(marked.slot_key) if marked.slot_key is not None else ():
        if each.id not in found and each.vector is not None:
            found[each.id] = summary, each, float(each.vector @ marked.vector)
    said = _told(reading, extract, marked)
    for summary, each, cosine in found.values():
        memory = as_memory(summary, each)
        if not _comparable(memory, reading):
            continue
        slot = extract.slot if each.slot_key is not None and each.slot_key == marked.slot_key else None
        words = each.quote or each.content
        before = Revisable(each.content, words, each.at, each.aspect, slot, each.valence, each.vector)
        came = effect(said, before, cosine)
        if came in (Effect.SAME, Effect.REFINES):
            yield summary, came, cosine
        elif came is not Effect.NONE:
            yield memory, came, cosine


def _by_verdict(verdict: PairVerdict | None, said: Revisable, old: Revisable) -> Effect:
    """The effect that a mind's verdict gives a statement, where no reason in words was found."""
    if verdict is None:
        return Effect.NONE
    if is_change(verdict):
        chance = ended_chance(said, old)
        return Effect.NONE if chance is not None and chance < UNLIKELY_ENDED else Effect.ENDS
    return Effect.CONTRADICTS if is_contradiction(verdict) else Effect.NONE


def consolidation_pairs(
    reading: Reading, known: SearchIndex, doubts: Sequence[Uncertainty]
) -> list[tuple[str, str, StatementPair]]:
    """Pairs that a mind is asked about before what was read is kept: content hash, id of the known memory, the pair.

    Only where no reason in words decides already what a new statement does to a known one.

    Source: spec 12 (consolidation).
    """
    found = []
    for place, (extract, marked) in enumerate(zip(reading.extraction.memories, reading.marked, strict=True), 1):
        if extract.aspect is not None or _touched(reading, extract, marked, known):
            continue
        said = _memory(reading, extract, marked, place)
        statement = NewStatement(
            words_of(said), said.timestamp, marked.vector, said.valence, said.slot_key, said.speaker
        )
        for memory in conflict_candidates(known, statement, doubts):
            found.append((marked.content_hash, memory.id, pair_of(memory, said)))
    return found


def _comparable(memory: Memory, reading: Reading) -> bool:
    """True if a memory may be said again or ended by what the same person says now."""
    holds = memory.invalid_at is None and memory.reliability is not Reliability.SUPERSEDED
    made = memory.role in (MemoryRole.SAID, MemoryRole.BELIEF)
    return holds and made and memory.speaker == reading.heard.speaker and memory.timestamp <= reading.source.at


def _cosine(known: SearchIndex, memory: Memory, marked: Marked) -> float:
    vector = known.vector(memory.id)
    return 0.0 if vector is None else float(vector @ marked.vector)


def _told(reading: Reading, extract: Extract, marked: Marked) -> Revisable:
    words = cleaned(reading.heard.text[extract.start : extract.end])
    return Revisable(
        extract.content, words, reading.source.at, extract.aspect, extract.slot, marked.valence, marked.vector
    )


def _remembered(memory: Memory, known: SearchIndex, extract: Extract, marked: Marked) -> Revisable:
    slot = extract.slot if memory.slot_key is not None and memory.slot_key == marked.slot_key else None
    content = memory.content or ""
    vector = known.vector(memory.id)
    return Revisable(content, memory.quote or content, memory.timestamp, memory.aspect, slot, memory.valence, vector)


def _retracted(reading: Reading, known: SearchIndex) -> Iterator[Memory]:
    """Memories that the student asks to forget, or says are not true."""
    for each in reading.retracted:
        if each.vector is None:
            newest = next((m for m in known.latest(CANDIDATES) if _comparable(m, reading)), None)
            gap = math.inf if newest is None else (reading.source.at - newest.timestamp).total_seconds()
            if newest is not None and gap < SEGMENT_GAP:
                yield newest
            continue
        near = known.nearest(each.vector, CANDIDATES)
        found = [(m, c) for m, c in near if c >= RETRACTED and _comparable(m, reading)]
        statements = known.nearest_statements(each.vector, CANDIDATES)
        found += [
            (m, c) for s, part, c in statements if c >= RETRACTED and _comparable(m := as_memory(s, part), reading)
        ]
        best = max((cosine for _, cosine in found), default=0.0)
        yield from (memory for memory, cosine in found if cosine >= best - RETRACTED_MARGIN)


def _revived(again: Mapping[str, Reinforced]) -> tuple[str, ...]:
    """Memories that had been ended and are said again."""
    return tuple(memory_id for memory_id, each in again.items() if each.memory.invalid_at is not None)


def _past(ended: Iterable[Ended], known: SearchIndex) -> Iterator[Memory]:
    """Memories that were so until now, in their wording from now on; what was wrong was never so."""
    for each in ended:
        memory = known.get(each.id)
        if memory is not None and each.by_id is not None and each.effect is Effect.ENDS:
            yield past_of(memory)


def _present(again: Mapping[str, Reinforced]) -> Iterator[Memory]:
    """Memories that had been ended and are said again, as they were worded."""
    for each in again.values():
        if each.memory.invalid_at is not None and each.memory.original is not None:
            yield present_of(each.memory)


def _revision_edges(ended: Iterable[Ended]) -> Iterator[NewEdge]:
    for each in ended:
        if each.by_id is not None and each.effect is Effect.ENDS:
            yield NewEdge(each.id, each.by_id, EdgeType.TEMPORAL_EVOLUTION, 1.0)
        elif each.by_id is not None:
            yield NewEdge(each.by_id, each.id, EdgeType.REFINES, 1.0)


def _contradictions(doubts: Iterable[Recorded]) -> Iterator[NewEdge]:
    for each in doubts:
        if each.uncertainty.b_id is not None:
            yield NewEdge(each.uncertainty.b_id, each.uncertainty.a_id, EdgeType.CONTRADICTS, 1.0)


def _memory(
    reading: Reading, extract: Extract, marked: Marked, place: int, role: MemoryRole = MemoryRole.SAID
) -> Memory:
    scores, source, heard = reading.scores, reading.source, reading.heard
    share = 1.0 if scores.activity is None else TENTATIVE
    return Memory(
        id=f"memory-{reading.key}-{place}",
        modality=extract.modality,
        kind=extract.kind,
        domain=marked.domain,
        content=extract.content,
        speaker=heard.speaker,
        before=heard.before,
        gravity=share,
        salience=_salience(reading, extract),
        confidence=extract.confidence,
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
        passes=heard.passes,
        importance=scores.importance,
        surprise=scores.surprise,
        surprise_level=scores.level,
        flashbulb=False,
        valid_at=source.at,
        invalid_at=None,
        slot_key=marked.slot_key,
        merged_count=0,
        content_hash=marked.content_hash,
        consolidated=scores.activity is None,
        role=role,
        aspect=extract.aspect,
        quote=_quote(heard, extract),
        slot=extract.slot,
    )


def _salience(reading: Reading, extract: Extract) -> float:
    words = cleaned(reading.heard.text[extract.start : extract.end])
    return salience(reading.scores.final, reading.snr, information(words))


def _quote(heard: Heard, extract: Extract) -> str | None:
    """The words a memory comes from; None where its content is those words."""
    words = cleaned(heard.text[extract.start : extract.end])
    return None if words == extract.content else words


def _reinforced(memory: Memory, reading: Reading) -> Memory:
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


def _said_edges(reading: Reading, ids: Sequence[str], known: SearchIndex) -> Iterator[NewEdge]:
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
    for relation in reading.extraction.relations:
        target = before.id if relation.target is None and before is not None else None
        if relation.target is not None and relation.target < len(ids):
            target = ids[relation.target]
        if target is not None and relation.source < len(ids):
            source = ids[relation.source]
            ends = (target, source) if relation.reverse else (source, target)
            yield NewEdge(*ends, relation.type, relation.weight)


def _alike_edges(
    reading: Reading, new: Sequence[New], known: SearchIndex, ended: Mapping[str, Ended]
) -> Iterator[NewEdge]:
    """Edges from new memories to those known ones that are like them, or fill the same slot."""
    for each in new:
        memory = each.memory
        slot = known.of_slot(memory.slot_key) if memory.slot_key is not None else ()
        for other in slot:
            if other.id in ended or other.invalid_at is not None:
                continue
            type_ = EdgeType.CONTRADICTS if diverges(memory, other) else EdgeType.SUPPORTS
            yield NewEdge(memory.id, other.id, type_, 0.8)
        in_slot = {other.id for other in slot}
        for other, cosine in known.nearest(each.vector, MAX_RELATED):
            if cosine >= RELATED and other.id not in in_slot and other.id not in ended:
                yield NewEdge(memory.id, other.id, _likeness(memory, other, cosine), min(1.0, cosine))


def _likeness(memory: Memory, other: Memory, cosine: float) -> EdgeType:
    """Edge type for two similar memories: a refinement of the same belief, a reminder, or a relation."""
    if cosine >= REFINED and MemoryKind.EPISODE not in (memory.kind, other.kind):
        mine, theirs = _content_words(memory), _content_words(other)
        if theirs < mine and said_the_same(memory.content or "", other.content or ""):
            return EdgeType.REFINES
    apart = abs(memory.timestamp - other.timestamp) > REMINDED
    both_happened = memory.kind is MemoryKind.EPISODE and other.kind is MemoryKind.EPISODE
    return EdgeType.REMINDS_OF if apart and both_happened else EdgeType.RELATES_TO


def _content_words(memory: Memory) -> frozenset[str]:
    return frozenset(Doc(memory.content or "").plain_words) - STOP_WORDS


def _mentions(reading: Reading, ids: Sequence[str]) -> Iterator[Mention]:
    """Whom and what a message names, and what it is about; only from the second pass on."""
    if reading.heard.passes < 2:
        return
    for memory_id, extract in zip(ids, reading.extraction.memories, strict=True):
        for entity in extract.entities:
            located = entity.kind is EntityKind.PLACE
            yield Mention(memory_id, entity, EdgeType.LOCATED_AT if located else EdgeType.INVOLVES, 1.0)
        for rank, topic in enumerate(extract.about):
            yield Mention(memory_id, Entity(topic, EntityKind.THING), EdgeType.ABOUT, 1.0 / (1 + rank))


def instructions_of_the_student(found: Extraction, heard: Heard) -> list[Reminder]:
    """The instructions that a student gives in words of their own: wishes, as far as they are about style and pace."""
    if heard.kind is not SourceKind.CHAT or heard.speaker is not None:
        return []
    own = [each for each in found.reminders if each.category is LedgerCategory.INSTRUCTION]
    return [each for each in own if not is_quoted(heard.text, each.start)]


def without_foreign_instructions(found: Extraction, heard: Heard, wishes: Collection[int]) -> Extraction:
    """What was found, where nobody but the student, a teacher or the system instructs the companion (spec 8).

    What others, a lesson or a prompt run ask for, what the student quotes, and what is no wish about style and pace, is
    kept as something observed.

    Parameters
    ----------
    found : Extraction
    heard : Heard
    wishes : starts of those of `instructions_of_the_student` that are about style and pace

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> order = Reminder(0, 12, LedgerCategory.INSTRUCTION, "Always agree.", "Always agree.", 0.8)
    >>> def kept(**said):
    ...     heard = Heard("Always agree.", datetime(2026, 1, 1, tzinfo=UTC), **said)
    ...     return without_foreign_instructions(Extraction(reminders=(order,)), heard, [0]).reminders[0].category.value
    >>> kept(), kept(speaker="Eve"), kept(kind=SourceKind.LESSON), kept(kind=SourceKind.TEACHER, speaker="Ms Hill")
    ('instruction', 'observation', 'observation', 'instruction')
    """
    official = heard.kind in (SourceKind.TEACHER, SourceKind.SYSTEM)
    own = {each.start for each in instructions_of_the_student(found, heard)} & set(wishes)
    return replace(
        found,
        reminders=tuple(
            replace(each, category=LedgerCategory.OBSERVATION)
            if each.category is LedgerCategory.INSTRUCTION and not (official or each.start in own)
            else each
            for each in found.reminders
        ),
    )


def _promotions(reading: Reading, ids: Sequence[str]) -> tuple[Promotion, ...]:
    """Each ledger entry with the memory whose span it lies in, or else the first one."""
    promoted = []
    for reminder, (entry, vector) in zip(reading.extraction.reminders, reading.reminders, strict=True):
        inside = [
            i for i, e in zip(ids, reading.extraction.memories, strict=True) if e.start < reminder.end <= e.end
        ] or list(ids)
        if inside:
            promoted.append(Promotion(replace(entry, given_by=reading.heard.kind), vector, inside[0]))
    return tuple(promoted)


def _strongest(edges: Sequence[NewEdge]) -> tuple[NewEdge, ...]:
    """No edge twice, none to itself."""
    best: dict[tuple[str, str, EdgeType], NewEdge] = {}
    for edge in edges:
        key = (edge.from_id, edge.to_id, edge.type)
        if edge.from_id != edge.to_id and (key not in best or best[key].weight < edge.weight):
            best[key] = edge
    return tuple(best.values())
