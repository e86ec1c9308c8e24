"""What a student takes back or overcomes, found out in the turn, before formation reads the message (spec 5)."""

import asyncio

from graphmem.app import Graphmem
from graphmem.flows.conflict_plan import revisable
from graphmem.flows.session_cache import open_memories
from graphmem.model import Memory, MemoryKind, MemoryRole, Message, Session
from graphmem.sealing import keyed_hash
from graphmem.search.index import SearchIndex
from graphmem.text.clauses import stated
from graphmem.text.doc import doc_of
from graphmem.text.reader import MessageReading
from graphmem.text.revision import Revisable, may_take_back, takes_back
from graphmem.text.slots import slot_key, slot_of

NEAREST_BELIEFS = 12
"""Nearest memories that a message is compared with."""


async def takes_back_belief(gm: Graphmem, session: Session, message: Message, reading: MessageReading) -> bool:
    """True if a message overcomes a misconception or tells that a belief of the student's ended or was wrong.

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
    said = Revisable(message.text, told, message.at, None, filled, reading.valence, message.embedding)
    index = (await open_memories(gm, session)).index
    return await asyncio.to_thread(_taken_back, index, said, key)


def _taken_back(index: SearchIndex, said: Revisable, key: str | None) -> bool:
    assert said.vector is not None  # callers only
    near = index.nearest(said.vector, NEAREST_BELIEFS)
    return any(
        takes_back(said, revisable(m, index.vector(m.id), said.slot, key), c) for m, c in near if _is_belief(m, said)
    )


def _is_belief(memory: Memory, said: Revisable) -> bool:
    """True of a belief that the student has told and that still holds."""
    told = memory.role is MemoryRole.SAID and memory.is_own_word
    belief = memory.kind in (MemoryKind.TRAIT, MemoryKind.CONCEPT)
    return told and belief and memory.invalid_at is None and memory.timestamp < said.at
