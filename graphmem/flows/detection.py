"""Detection in the turn: contradictions and retractions of a message, within a time box (spec 5, 12)."""

import asyncio
from dataclasses import dataclass, field

from graphmem.app import Graphmem
from graphmem.errors import MindError
from graphmem.flows.detection_plan import (
    DETECTION_SECONDS,
    OWN_ENOUGH,
    conflict_candidates,
    is_contradiction,
    is_decided,
    noticed_doubt,
    revisable,
    woven_at_once,
)
from graphmem.flows.session_cache import open_memories
from graphmem.flows.uncertainty_plan import words_of
from graphmem.language.analysis import MessageAnalysis
from graphmem.model import (
    Classify,
    Memory,
    MemoryKind,
    MemoryRole,
    Message,
    Session,
    StatementPair,
    Uncertainty,
    Usage,
    Woven,
)
from graphmem.sealing import keyed_hash
from graphmem.search.index import SearchIndex
from graphmem.search.ranking import secret_ids
from graphmem.text.clauses import stated
from graphmem.text.doc import doc_of
from graphmem.text.revision import Revisable, may_take_back, takes_back
from graphmem.text.slots import slot_key, slot_of

NEAREST_BELIEFS = 12
"""Nearest memories that a message is compared with."""


@dataclass(frozen=True)
class Detected:
    """Contradictions found in a message.

    doubt : that it raises, not kept yet
    woven : the same as the reply may put it; None where it must not be brought up
    """

    doubt: Uncertainty | None = None
    woven: Woven | None = None
    usage: Usage = field(default_factory=Usage)


async def detected(gm: Graphmem, session: Session, message: Message, reading: MessageAnalysis, seq: int) -> Detected:
    """Find the memories that a message contradicts, in at most 0.6 seconds.

    Without a candidate no mind is asked. A late verdict is dropped: formation asks again without a time box before the
    statement is kept, and a drift cycle compares new memories first.

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
    if message.embedding is None or not reading.passes or doc.asks:
        return Detected()
    held = await open_memories(gm, session)
    filled = slot_of(doc) if len(held.index) else None
    if not len(held.index) or (filled is None and reading.scores.chance("about_self") < OWN_ENOUGH):
        return Detected()
    slot = None if filled is None else keyed_hash(session.keys, "slot", slot_key(filled))
    valence = reading.scores.number("valence")
    said = Revisable(message.text, message.text, message.at, None, filled, valence, message.embedding)
    found = [
        memory
        for memory in conflict_candidates(held.index, said, held.doubts, slot)
        if memory.is_own_word and not is_decided(said, slot, memory, held.index.vector(memory.id))
    ]
    if not found:
        return Detected()
    try:
        async with asyncio.timeout_at(deadline):
            answer = await gm.mind.ask(Classify(tuple(StatementPair(words_of(each), said.words) for each in found)))
    except (TimeoutError, MindError):
        return Detected()
    contradicted = ((m, v) for m, v in zip(found, answer.value, strict=True) if is_contradiction(v))
    memory, verdict = next(contradicted, (None, None))
    if memory is None or verdict is None:
        return Detected(usage=answer.usage)
    doubt = noticed_doubt(memory, verdict, message.text, str(seq), message.at)
    secret = memory.id in secret_ids([memory], [kept.entry for kept in held.ledger if kept.entry.is_active])
    raised = None if secret else woven_at_once(doubt, memory, message.text, held.tolerance)
    return Detected(doubt, raised, answer.usage)


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
    told = stated(doc_of(message))
    if not may_take_back(told):
        return False
    filled = slot_of(doc_of(message))
    key = None if filled is None else keyed_hash(session.keys, "slot", slot_key(filled))
    said = Revisable(message.text, told, message.at, None, filled, reading.scores.number("valence"), message.embedding)
    index = (await open_memories(gm, session)).index
    return await asyncio.to_thread(_taken_back, index, said, key)


def _taken_back(index: SearchIndex, said: Revisable, key: str | None) -> bool:
    assert said.vector is not None  # callers only
    near = index.nearest(said.vector, NEAREST_BELIEFS)
    return any(
        takes_back(said, revisable(m, index.vector(m.id), said.slot, key), c)
        for m, c in near
        if _is_held_belief(m, said)
    )


def _is_held_belief(memory: Memory, said: Revisable) -> bool:
    """True of a belief that the student has stated and that still holds."""
    told = memory.role is MemoryRole.SAID and memory.is_own_word
    belief = memory.kind in (MemoryKind.TRAIT, MemoryKind.CONCEPT)
    return told and belief and memory.invalid_at is None and memory.timestamp < said.at
