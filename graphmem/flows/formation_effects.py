"""Effects of new statements on known memories: said again, refined, ended, denied, taken back (spec 7, 12)."""

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from operator import itemgetter

from graphmem.flows.detection_plan import conflict_candidates, is_change, is_contradiction, pair_of, revisable
from graphmem.flows.ending import as_memory, known_memory
from graphmem.flows.formation_reading import Marked, Reading, new_memory
from graphmem.maths.features import SEGMENT_GAP
from graphmem.model import (
    OF_A_SITTING,
    Fact,
    KnownItem,
    LedgerCategory,
    LedgerEntry,
    Memory,
    MemoryKind,
    MemoryRole,
    Note,
    PairVerdict,
    Reliability,
    StatementPair,
    Uncertainty,
    Vector,
)
from graphmem.search.index import SearchIndex
from graphmem.text.doc import Doc
from graphmem.text.normalize import said as plain
from graphmem.text.revision import RATHER_ENDED, Effect, Revisable, effect, ending_chance, surely_ended
from graphmem.text.stems import is_past

CANDIDATES = 12
"""Nearest memories that a new statement is compared with."""
END_EFFECTS = (Effect.ENDS, Effect.CORRECTS, Effect.OUTDATES)
"""Effects that close a memory, or mark it as holding in part."""
RETRACTED, RETRACTED_MARGIN = 0.4, 0.05
"""Cosine from which a memory is the one that is to be forgotten, and what others may be farther."""
MAX_KNOWN, MAX_ENTRIES, MAX_FACTS = 15, 8, 4
"""Most known memories, ledger entries and facts that a mind is shown with some messages."""


def holder_of(known: SearchIndex, memory_id: str) -> str:
    """Return the summary that holds a statement, or the memory itself."""
    found = known.statement(memory_id) if known.get(memory_id) is None else None
    return memory_id if found is None else found[0].id


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


def touched_memories(
    reading: Reading, extract: Note, marked: Marked, known: SearchIndex
) -> list[tuple[Memory, Effect]]:
    """Return known memories that a new statement says again, refines or ends, judged by rules and networks."""
    same = known.find(marked.content_hash)
    if same is not None and same.invalid_at is None:
        return [(same, Effect.SAME)]
    near = known.nearest(marked.vector, CANDIDATES)
    slot = known.of_slot(marked.slot_key) if marked.slot_key is not None else []
    candidates = {memory.id: (memory, cosine) for memory, cosine in near}
    candidates |= {m.id: (m, _cosine(known, m, marked)) for m in slot if m.id not in candidates}
    said = _new_statement(reading, extract, marked)
    # What had ended and is said again ends what has taken its place.
    touched: list[tuple[Memory, Effect, float]] = [] if same is None else [(same, Effect.SAME, 1.0)]
    for memory, cosine in candidates.values():
        if memory is not same and _comparable(memory, reading):
            old = _known_statement(memory, known, extract, marked)
            found = effect(said, old, cosine)
            if found is Effect.NONE:
                found = _by_verdict(reading.verdicts.get((marked.content_hash, memory.id)), said, old)
            if found is not Effect.NONE:
                touched.append((memory, found, cosine))
    # They have learned from what students tell a tutor, not from the talk of others that is only observed.
    if not (reading.heard.observed or any(each[1] in END_EFFECTS for each in touched)):
        # Of the subject matter they know little: what is understood there ends what was not.
        matter = extract.kind is MemoryKind.CONCEPT
        able = [m for m, _ in candidates.values() if not (matter and m.kind is MemoryKind.CONCEPT)]
        touched = _with_surely_ended(touched, said, [m for m in able if _comparable(m, reading)], known)
    touched += _touched_statements(reading, extract, marked, known)
    if reading.heard.asks:
        # Who asks for what was told tells of no change: "What did I do for my talk?"
        touched = [each for each in touched if each[1] not in END_EFFECTS]
    if not any(found is Effect.SAME for _, found, _ in touched):
        touched += _said_again(reading, extract, marked, known, near)
    # One thing is put right at a time: what is nearest.
    corrects = any(e is Effect.CORRECTS for _, e, _ in touched)
    nearest = max((cosine for _, e, cosine in touched if e in END_EFFECTS), default=0.0)
    return [(m, e) for m, e, cosine in touched if not corrects or e not in END_EFFECTS or cosine == nearest]


def overtaken_by(reading: Reading, extract: Note, marked: Marked, known: SearchIndex) -> Memory | None:
    """Return the first later memory of the same person that ends a statement which arrives late; None where none does.

    What speaks of a later time decides, not what arrives last (spec 7).
    """
    said = _new_statement(reading, extract, marked)
    candidates = {memory.id: memory for memory, _ in known.nearest(marked.vector, CANDIDATES)}
    candidates |= {memory.id: memory for memory in known.of_slot(marked.slot_key or "")}
    later = [m for m in candidates.values() if _holds(m, reading) and m.timestamp > reading.source.at]
    for memory in sorted(later, key=lambda each: (each.timestamp, each.id)):
        newer = _known_statement(memory, known, extract, marked)
        came = effect(newer, said, _cosine(known, memory, marked))
        sure = Effect.NONE if reading.heard.observed else surely_ended(newer, said)[1]
        if came in (Effect.ENDS, Effect.CORRECTS, Effect.CONTRADICTS) or sure is Effect.ENDS:
            return memory
    return None


def _with_surely_ended(
    touched: list[tuple[Memory, Effect, float]], said: Revisable, candidates: Sequence[Memory], known: SearchIndex
) -> list[tuple[Memory, Effect, float]]:
    """Return the same with the memory that the networks most surely find ended, though rules say *same* or nothing."""
    doubted = [memory for memory, effect, _ in touched if effect is Effect.CONTRADICTS]
    open_to_it = [each for each in candidates if each not in doubted]
    found = [(*surely_ended(said, revisable(each, known.vector(each.id))), each) for each in open_to_it]
    chance, came, memory = max(found, key=itemgetter(0), default=(0.0, Effect.NONE, None))
    if memory is None or not chance:
        return touched
    return [*(each for each in touched if each[0] is not memory), (memory, came, 1.0)]


def _said_again(
    reading: Reading, extract: Note, marked: Marked, known: SearchIndex, near: Sequence[tuple[Memory, float]]
) -> list[tuple[Memory, Effect, float]]:
    """Return the nearest memory that has ended and is said again, in the same tense; work of a lesson begins anew."""
    if extract.aspect is not None:
        return []
    said = _new_statement(reading, extract, marked)
    for memory, cosine in near:
        before = _known_statement(memory, known, extract, marked)
        again = _has_ended(memory, reading) and _tells_past(said) == _tells_past(before)
        if again and effect(said, before, cosine) is Effect.SAME:
            return [(memory, Effect.SAME, cosine)]
    return []


def _tells_past(told: Revisable) -> bool:
    return any(map(is_past, Doc(told.words).plain_words))


def _has_ended(memory: Memory, reading: Reading) -> bool:
    """Return whether a statement of the same person, said before, was retired."""
    ended = memory.invalid_at is not None and memory.reliability is Reliability.SUPERSEDED
    earlier = memory.role is MemoryRole.SAID and memory.timestamp <= reading.source.at
    return ended and earlier and memory.aspect is None and memory.speaker == reading.heard.speaker


def _touched_statements(
    reading: Reading, extract: Note, marked: Marked, known: SearchIndex
) -> Iterator[tuple[Memory, Effect, float]]:
    """Statements of summaries that a new one ends or denies, and summaries of which it says one again or better."""
    found = {
        each.id: (summary, each, cosine)
        for summary, each, cosine in known.nearest_statements(marked.vector, CANDIDATES)
    }
    for summary, each in known.statements_of_slot(marked.slot_key) if marked.slot_key is not None else ():
        if each.id not in found and each.vector is not None:
            found[each.id] = summary, each, float(each.vector @ marked.vector)
    said = _new_statement(reading, extract, marked)
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
    """Return the effect that a mind's verdict gives a statement, where no reason in words was found."""
    if verdict is None:
        return Effect.NONE
    if is_change(verdict):
        # Who sold the Honda still drives the Toyota, whatever the network says of cars.
        one_matter = (said.slot is not None and said.slot == old.slot) or not said.stems.isdisjoint(old.stems)
        ends = one_matter and ending_chance(said, old) >= RATHER_ENDED
        return Effect.ENDS if ends else Effect.NONE
    return Effect.CONTRADICTS if is_contradiction(verdict) else Effect.NONE


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


def _cosine(known: SearchIndex, memory: Memory, marked: Marked) -> float:
    vector = known.vector(memory.id)
    return 0.0 if vector is None else float(vector @ marked.vector)


def _new_statement(reading: Reading, extract: Note, marked: Marked) -> Revisable:
    return Revisable(
        marked.content,
        marked.words,
        reading.source.at,
        extract.aspect,
        extract.slot,
        marked.valence,
        marked.vector,
        reading.heard.text,
    )


def _known_statement(memory: Memory, known: SearchIndex, extract: Note, marked: Marked) -> Revisable:
    return revisable(memory, known.vector(memory.id), extract.slot, marked.slot_key)


def retracted_memories(reading: Reading, known: SearchIndex) -> Iterator[Memory]:
    """Memories that the student asks to forget, or says are not true."""
    for vector in reading.retracted:
        if vector is None:
            newest = next((m for m in known.latest(CANDIDATES) if _comparable(m, reading)), None)
            gap = math.inf if newest is None else (reading.source.at - newest.timestamp).total_seconds()
            if newest is not None and gap < SEGMENT_GAP:
                yield newest
            continue
        near = known.nearest(vector, CANDIDATES)
        found = [(m, c) for m, c in near if c >= RETRACTED and _comparable(m, reading)]
        statements = known.nearest_statements(vector, CANDIDATES)
        found += [
            (m, c) for s, part, c in statements if c >= RETRACTED and _comparable(m := as_memory(s, part), reading)
        ]
        best = max((cosine for _, cosine in found), default=0.0)
        yield from (memory for memory, cosine in found if cosine >= best - RETRACTED_MARGIN)
