"""Doubts: found in a message or by a drift cycle, listed, settled, undone; corrections; advice (spec 3, 5, 12)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.app import Graphmem
from graphmem.cache import OpenMemories
from graphmem.errors import InvalidInput, Locked, NotFound
from graphmem.flows.formation import affect_of, said_hash
from graphmem.flows.session_cache import check_running, open_memories, with_feedback, write_planned
from graphmem.flows.uncertainty_plan import (
    COOL_DOWN,
    CORRECTED_BY,
    DETECTION_SECONDS,
    MOST_RELATIONSHIPS,
    OWN_ENOUGH,
    SETTLED_STATES,
    Settling,
    advice,
    candidates,
    claim_of,
    closed,
    compared,
    contradicted,
    contradiction,
    doubted_alone,
    doubted_ids,
    is_held,
    opposed_relationships,
    reconciled,
    sampled,
    settled,
    shifted_tolerance,
    touches,
    uncertainty_as_of,
    undone,
    woven_at_once,
)
from graphmem.language.analysis import MessageAnalysis
from graphmem.language.encoder import LEANS
from graphmem.model import (
    ActionAdvice,
    Aspect,
    DetectionContext,
    Effect,
    Memory,
    MemoryKind,
    MemoryRole,
    Message,
    Modality,
    Reliability,
    Resolution,
    Session,
    Severity,
    SourceKind,
    Uncertainty,
    UncertaintyState,
    Vector,
    Who,
    Woven,
)
from graphmem.model.memory import blank_memory
from graphmem.sealing import keyed_hash
from graphmem.search.index import SearchIndex
from graphmem.search.ranking import secret_ids
from graphmem.store import memories, uncertainties
from graphmem.store.changes import Changes, New, Origin, Span, Tolerance, Update
from graphmem.store.uncertainties import Earlier, Recorded
from graphmem.text.doc import Doc, doc_of
from graphmem.text.revision import Claim, may_take_back, pair_verdict, slot_key, slot_of
from graphmem.validation import checked_as_of, checked_id, checked_share, checked_text

DETAIL_CHARACTERS = 2_000
"""Longest detail of a resolution, and longest description of an action."""
STATEMENT_CHARACTERS = 2_000
"""Longest memory that the student puts in the place of another."""
MOST_CHECKED = 100
"""Most memories that an action rests on."""
STATED = 1.0
"""Confidence of a student's explicit statement about a memory that is shown."""
KEPT_FROM_OLD = (
    *("modality", "kind", "domain", "speaker", "salience", "strength", "snr", "passes", "importance"),
    *("slot_key", "aspect", "slot", "utc_offset"),
)
"""Fields that what the student puts in the place of a memory has from it."""


@dataclass(frozen=True)
class Detected:
    """Contradictions found in a message.

    doubt : that it raises, not kept yet
    woven : the same as the reply may put it; None where it must not be brought up
    """

    doubt: Uncertainty | None = None
    woven: Woven | None = None


async def detected(gm: Graphmem, session: Session, message: Message, reading: MessageAnalysis, seq: int) -> Detected:
    """Find the memory that a message contradicts, in at most 0.6 seconds.

    A late verdict is dropped: formation compares again without a time box before the statement is kept, and a drift
    cycle compares new memories first. Where a mind links its notes, those tell.

    Parameters
    ----------
    gm : Graphmem
    session : Session, open
    message : with embedding
    reading : of the message
    seq : of the turn

    Source: spec 3, 12 (ingestion).
    """
    deadline = asyncio.get_running_loop().time() + DETECTION_SECONDS
    doc = doc_of(message)
    if gm.mind.links or message.embedding is None or not reading.passes or doc.asks:
        return Detected()
    held = await open_memories(gm, session)
    if not len(held.index):
        return Detected()
    said = _statement(session, message, message.embedding, reading)
    if said.slot is None and reading.scores.chance("about_self") < OWN_ENOUGH:
        return Detected()
    try:
        async with asyncio.timeout_at(deadline):
            found = await asyncio.to_thread(contradicted, said, held.index, held.doubts)
    except TimeoutError:
        return Detected()
    if found is None:
        return Detected()
    (memory, judged), context = found, DetectionContext.INGESTION
    doubt = contradiction(memory, f"turn-{seq}", memory.kind, context, message.at, judged.reason, message.text)
    # The other side is not formed yet.
    doubt = replace(doubt, b_id=None)
    secret = memory.id in secret_ids([memory], [kept.entry for kept in held.ledger if kept.entry.is_active])
    raised = None if secret else woven_at_once(doubt, memory, message.text, held.tolerance)
    return Detected(doubt, raised)


async def takes_back_belief(gm: Graphmem, session: Session, message: Message, reading: MessageAnalysis) -> bool:
    """Return whether a message overcomes a misconception or tells that a belief of the student's ended or was wrong.

    Only where a word of it may tell so anything is compared, and no model is asked.

    Parameters
    ----------
    gm : Graphmem
    session : Session, open
    message : with embedding
    reading : of the message

    Source: spec 5.
    """
    if not reading.passes or message.embedding is None or not may_take_back(message.text):
        return False
    said = _statement(session, message, message.embedding, reading)
    index = (await open_memories(gm, session)).index
    return await asyncio.to_thread(_taken_back, index, said)


def _statement(session: Session, message: Message, vector: Vector, reading: MessageAnalysis) -> Claim:
    """Return what a message states, as memories are compared with it."""
    slot, valence = slot_of(doc_of(message)), reading.scores.number("valence")
    key = None if slot is None else keyed_hash(session.keys, "slot", slot_key(slot))
    told = message.text, message.text, message.at, vector
    return Claim(*told, slot=slot, slot_key=key, valence=valence, fresh=True)


def _taken_back(index: SearchIndex, said: Claim) -> bool:
    """Return whether a belief is ended; another value of one attribute (a new favourite) takes back nothing."""
    held = (each.said for each in compared(said, index) if _is_held_belief(each.memory, said))
    return any(pair_verdict(said, old).effect is Effect.ENDS for old in held if not said.fills_slot_of(old))


def _is_held_belief(memory: Memory, said: Claim) -> bool:
    """True of a belief that the student has stated or shown and that still holds."""
    told = memory.role is MemoryRole.SAID and memory.is_own_word and memory.timestamp < said.at
    belief = memory.kind in (MemoryKind.TRAIT, MemoryKind.CONCEPT) and memory.aspect in (None, Aspect.MISCONCEPTION)
    return told and belief and memory.invalid_at is None


async def list_uncertainties(
    gm: Graphmem,
    who: Who,
    session: Session | None,
    state: UncertaintyState | None = None,
    severity: Severity | None = None,
    topic: str | None = None,
    as_of: datetime | None = None,
) -> list[Uncertainty]:
    """Return a student's uncertainties, newest first, of a topic where one is given; their texts only with the session.

    With `as_of`, return the uncertainties recorded by then, each in its state at that moment except for surfacing.

    Raises
    ------
    InvalidInput    the topic or `as_of` will not do
    Locked          the session has ended, or a topic is asked for without one
    """
    if session is not None:
        await check_running(gm, session)
    checked_as_of(as_of)
    states = None if state is None or as_of is not None else [state]
    found = await uncertainties.find_uncertainties(gm.graph, who, session, states=states, severity=severity)
    if as_of is not None:
        then = [uncertainty_as_of(doubt, as_of) for doubt in found if doubt.created_at <= as_of]
        found = [doubt for doubt in then if state in (None, doubt.state)]
    if topic is None:
        return found
    if session is None:
        raise Locked
    checked_text("topic", topic, STATEMENT_CHARACTERS)
    held, (vector,) = await open_memories(gm, session), await gm.embedder.embed([topic])
    return [doubt for doubt in found if touches(doubt, held.index, Doc(topic), vector)]


async def uncertainties_of_turn(gm: Graphmem, session: Session, ids: Sequence[str]) -> list[Uncertainty]:
    """Return the uncertainties that a turn raised, as they stand now."""
    return await uncertainties.find_uncertainties(gm.graph, session, session, ids=ids) if ids else []


async def uncertainties_by_memory(gm: Graphmem, who: Who, ids: Sequence[str]) -> dict[str, list[Uncertainty]]:
    """Return the uncertainties about many memories, read at once, newest first; every id asked for is a key."""
    session = who if isinstance(who, Session) else None
    found = await uncertainties.find_uncertainties(gm.graph, who, session, memory_ids=ids)
    return {i: [doubt for doubt in found if i in (doubt.a_id, doubt.b_id)] for i in ids}


async def memories_of_uncertainties(
    gm: Graphmem, who: Who, session: Session | None, doubts: Sequence[Uncertainty]
) -> dict[str, Memory]:
    """Return the memories that uncertainties concern, by their ids, read at once."""
    ids = dict.fromkeys(i for doubt in doubts for i in (doubt.a_id, doubt.b_id) if i is not None)
    return {memory.id: memory for memory in await memories.find_by_ids(gm.graph, who, list(ids), session)}


async def resolve_uncertainty(gm: Graphmem, session: Session, uncertainty_id: str, by: Settling) -> Uncertainty:
    """Settle an uncertainty; the same resolution with the same winner again changes nothing.

    Where the student has clarified it, that is remembered, too.

    Raises
    ------
    InvalidInput    the resolution does not fit, or it was settled otherwise
    NotFound        there is no such uncertainty
    Conflict        memories kept changing

    Source: spec 12.
    """
    if by.detail:
        checked_text("detail", by.detail, DETAIL_CHARACTERS)

    async def planned(held: OpenMemories) -> Changes | None:
        recorded = await _find_recorded(gm, session, uncertainty_id)
        if _is_settled_so(recorded, by):
            return None
        record, clarified = recorded.uncertainty, by.resolution is Resolution.USER_CLARIFIED
        ids = () if record.is_about_relationships else (record.a_id, record.b_id)
        sides = [_side(held, each) for each in ids if each is not None]
        made = await _clarification_episode(gm, session, held, record, by) if sides and clarified else None
        rows = settled(record, sides, replace(by, made=made), gm.clock())
        changes = await with_feedback(gm, session, Changes(held.version, by.resolution.value, rows), held)
        return changes.plus(_less_tolerant(held)) if sides and clarified else changes

    await write_planned(gm, session, planned)
    return (await _find_recorded(gm, session, uncertainty_id)).uncertainty


def _less_tolerant(held: OpenMemories) -> Tolerance:
    """Return the tolerance of a companion whom the student has put right."""
    return Tolerance(shifted_tolerance(held.tolerance, CORRECTED_BY))


def _is_settled_so(recorded: Recorded, by: Settling) -> bool:
    winner = next((each.memory_id for each in recorded.undo.memories), None)
    won = by.winner_id in (None, winner) or recorded.uncertainty.is_about_relationships
    return recorded.uncertainty.state in SETTLED_STATES and recorded.uncertainty.resolution is by.resolution and won


async def undo_resolution(gm: Graphmem, session: Session, uncertainty_id: str) -> Uncertainty:
    """Undo a resolution: the uncertainty is open again, and its memories are as they were before.

    Raises
    ------
    InvalidInput    it is not settled
    NotFound        there is no such uncertainty
    Conflict        memories kept changing

    Source: spec 12.
    """

    async def planned(held: OpenMemories) -> Changes:
        rows = undone(await _find_recorded(gm, session, uncertainty_id), gm.clock())
        return Changes(held.version, "undo", rows)

    await write_planned(gm, session, planned)
    return (await _find_recorded(gm, session, uncertainty_id)).uncertainty


async def correct_memory(gm: Graphmem, session: Session, memory_id: str, content: str) -> Memory:
    """Replace a memory by the student's correction and supersede it; this can be undone as a resolution.

    The same correction again changes nothing.

    Parameters
    ----------
    gm : Graphmem
    session : Session
    memory_id : of any memory that holds
    content : str, the corrected statement; at most 2,000 characters

    Returns
    -------
    Memory of the corrected statement

    Raises
    ------
    InvalidInput    the content will not do, or the memory says just this
    NotFound        there is no such memory
    Conflict        memories kept changing

    Source: spec 12 (user_clarified).
    """
    checked_id("id", memory_id)
    checked_text("content", content, STATEMENT_CHARACTERS)
    made = list[Memory]()

    async def planned(held: OpenMemories) -> Changes | None:
        old, now = _side(held, memory_id), gm.clock()
        new = await _put_right(gm, session, held, old, content, now)
        if new.memory.id == old.id or new.memory.content_hash == old.content_hash:
            raise InvalidInput("The memory says this already.")
        made.append(new.memory)
        if old.reliability is Reliability.SUPERSEDED and held.index.get(new.memory.id) is not None:
            return None
        replaced = await asyncio.to_thread(_replaced_by, held, old, new)
        return _correction(old, new, replaced, held, now)

    await write_planned(gm, session, planned)
    return (await open_memories(gm, session)).index.get(made[-1].id) or made[-1]


async def check_action(
    gm: Graphmem, session: Session, memory_ids: Sequence[str], action: str, confidence: float
) -> ActionAdvice:
    """Return advice on an action that rests on memories, before it is taken; unsure ones are in doubt from then on.

    Raises
    ------
    InvalidInput    no memory or more than 100, an empty action, or a confidence outside 0..1
    NotFound        one of the memories is not there
    Conflict        memories kept changing

    Source: spec 12 (pre_action).
    """
    checked_text("action", action, DETAIL_CHARACTERS)
    checked_share("confidence", confidence)
    if not 1 <= len(memory_ids) <= MOST_CHECKED:
        raise InvalidInput(f"Name 1 to {MOST_CHECKED} memories that the action rests on.")
    ids = [checked_id("memoryIds", each) for each in dict.fromkeys(memory_ids)]
    await _doubt_before(gm, session, ids)
    held = await open_memories(gm, session)
    found = await uncertainties.find_uncertainties(gm.graph, session, session, memory_ids=ids)
    waiting = tuple(doubt for doubt in found if doubt.state not in SETTLED_STATES)
    return advice(tuple(_side(held, each) for each in ids), waiting, confidence)


async def _doubt_before(gm: Graphmem, session: Session, ids: Sequence[str]) -> None:
    """Put the unsure ones of some memories in doubt, since an action is to rest on them."""

    async def planned(held: OpenMemories) -> Changes | None:
        rested = [_side(held, each) for each in ids]
        readings = await gm.reader.read([each.content or "" for each in rested])
        said = zip(rested, readings, strict=True)
        leaning = {memory.id for memory, reading in said if reading.scores.chance("leans") >= LEANS}
        rows = doubted_alone(rested, DetectionContext.PRE_ACTION, gm.clock(), leaning)
        return Changes(held.version, DetectionContext.PRE_ACTION.value, rows) if rows else None

    await write_planned(gm, session, planned)


async def _find_recorded(gm: Graphmem, session: Session, uncertainty_id: str) -> Recorded:
    found = await uncertainties.find_uncertainty(gm.graph, session, checked_id("id", uncertainty_id))
    if found is None:
        raise NotFound("There is no such uncertainty.")
    return found


def _side(held: OpenMemories, memory_id: str) -> Memory:
    memory = held.index.get(memory_id)
    if memory is None:
        raise NotFound("There is no such memory.")
    return memory


async def _clarification_episode(
    gm: Graphmem, session: Session, held: OpenMemories, record: Uncertainty, by: Settling
) -> New | None:
    """Return the episode of a clarification, where the student said something about it."""
    if not by.detail:
        return None
    (vector,) = await gm.embedder.embed([by.detail])
    now = gm.clock()
    number = len(await uncertainties.find_uncertainties(gm.graph, session, None, memory_ids=[record.a_id]))
    memory_id = f"clarification-{record.id}-{round(now.timestamp() * 1000)}-{number}"
    memory = _stated_memory(session, gm, _side(held, record.a_id), memory_id, by.detail, vector, now)
    memory = replace(memory, modality=Modality.EPISODIC, kind=MemoryKind.EPISODE, slot_key=None)
    return _new(memory, vector, f"clarified:{memory_id}")


async def _put_right(
    gm: Graphmem, session: Session, held: OpenMemories, old: Memory, content: str, now: datetime
) -> New:
    """Return the memory of the student's correction: a known memory with that statement, or a new one."""
    (vector,) = await gm.embedder.embed([content])
    content_hash = said_hash(session, old.speaker, content)
    known = held.index.find(content_hash)
    memory_id = f"correction-{old.id}-{content_hash[:16]}" if known is None else known.id
    memory = known or _stated_memory(session, gm, old, memory_id, content, vector, now)
    return _new(memory, vector, f"correction:{memory_id}")


def _replaced_by(held: OpenMemories, old: Memory, new: New) -> list[Memory]:
    """Return other current memories of the corrected one's slot, or near it, that the new one contradicts."""
    said = replace(claim_of(new.memory, new.vector), aspect=None, fresh=True)
    others = (each for each in compared(said, held.index) if each.memory.id not in (old.id, new.memory.id))
    current = (each for each in others if each.summary is None and is_held(each.memory, new.memory.speaker))
    denied = (Effect.ENDS, Effect.CONTRADICTS)
    return [each.memory for each in current if pair_verdict(said, each.said).effect in denied]


def _stated_memory(
    session: Session, gm: Graphmem, like: Memory, memory_id: str, content: str, vector: Vector, now: datetime
) -> Memory:
    valence, _ = affect_of(gm, Doc(content), vector)
    return replace(
        blank_memory(now),
        id=memory_id,
        content=content,
        confidence=STATED,
        valence=valence,
        source_refs=(memory_id,),
        content_hash=said_hash(session, like.speaker, content),
        consolidated=True,
        **{name: getattr(like, name) for name in KEPT_FROM_OLD},
    )


def _new(memory: Memory, vector: Vector, ref: str) -> New:
    origin = Origin(SourceKind.CHAT, ref, f"source-{memory.id}", memory.timestamp)
    return New(memory, vector, Span(0, len(memory.content or "")), origin)


def _correction(old: Memory, new: New, replaced: Sequence[Memory], held: OpenMemories, now: datetime) -> Changes:
    """Return the changes of a correction: the new memory, the old and `replaced` ones closed, and its undo record.

    A settled uncertainty lies between the new and the old one; an earlier correction that was undone has left it.
    """
    memory, gone = new.memory, [each.id for each in replaced]
    known = held.index.get(memory.id) is not None
    told, context = "The student put it right.", DetectionContext.INGESTION
    record = contradiction(old, memory.id, memory.kind, context, now, told, old.content)
    by = Settling(Resolution.USER_CLARIFIED, memory.id, made=None if known else new)
    *rows, recorded = settled(record, (old, memory), by, now, new=True)
    assert isinstance(recorded, Recorded)
    # Undoing a correction keeps memories known before and removes the memory it created.
    undo = replace(recorded.undo, memories=(*recorded.undo.memories, *map(Earlier.of, replaced)))
    rows += [
        *closed(gone, now),
        replace(recorded, undo=undo),
        _less_tolerant(held),
    ]
    return Changes(held.version, Resolution.USER_CLARIFIED.value, tuple(rows))


async def reconcile(gm: Graphmem, session: Session, *, by_hand: bool = False) -> tuple[Uncertainty, ...]:
    """Run a drift cycle and return the doubts it found, including the ones it settled by itself.

    Parameters
    ----------
    gm : Graphmem
    session : Session, open
    by_hand : somebody asks for it, so that there need not be half an hour since the last one

    Raises
    ------
    Locked          the session has ended
    Conflict        memories kept changing; nothing was written

    Source: spec 12 (drift).
    """
    now = gm.clock()
    await open_memories(gm, session)
    begun = await uncertainties.begin_cycle(gm.graph, session, None if by_hand else now - COOL_DOWN, now)
    if begun is None:
        return ()
    cycle, version = begun
    # What another process wrote is read first: otherwise a contradiction in it would have to wait for the next cycle.
    await open_memories(gm, session, version)

    async def planned(held: OpenMemories) -> Changes | None:
        sample = await asyncio.to_thread(sampled, held.index, cycle, held.tolerance, now)
        # Where a mind links its notes, those tell.
        pairs = [] if gm.mind.links else await asyncio.to_thread(candidates, sample, held.index, held.doubts)
        ids = [memory.id for memory in sample]
        opposed = await uncertainties.list_opposed_edges(gm.graph, session, ids, MOST_RELATIONSHIPS)
        rows = (
            *await asyncio.to_thread(reconciled, pairs, now, held.tolerance),
            *opposed_relationships(opposed, Resolution(gm.settings.conflicts), now, held.doubts),
        )
        touched = {row.memory_id for row in rows if isinstance(row, Update)} | doubted_ids(held.doubts)
        others = [memory for memory in sample if memory.id not in touched]
        rows = (*rows, *(await asyncio.to_thread(doubted_alone, others, DetectionContext.DRIFT, now)))
        changes = Changes(held.version, DetectionContext.DRIFT.value, rows)
        return await with_feedback(gm, session, changes, held) if changes.doubts else None

    changes = await write_planned(gm, session, planned)
    return () if changes is None else tuple(each.uncertainty for each in changes.doubts)
