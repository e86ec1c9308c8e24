"""Forgetting a memory: it goes, and so does what it fed (spec 14, 15)."""

from dataclasses import replace

from graphmem.app import Graphmem
from graphmem.errors import NotFound
from graphmem.flows.running import check_running
from graphmem.flows.session_cache import open_memories
from graphmem.model import Erased, Memory, Session
from graphmem.store import memories
from graphmem.text.normalize import said
from graphmem.validation import checked_id


async def forget_memory(gm: Graphmem, session: Session, memory_id: str) -> Erased:
    """Delete a memory and what it fed, for good.

    It fed what was made of it or of the messages it comes from: facts, episodes, beliefs, procedures, summaries,
    ledger entries, uncertainties, questions, raw turns, waiting jobs; and its words are taken from where they are kept
    as said before another memory. Its sources stay, without a word, so that it is not formed again; so does the flag
    of a danger.

    Returns
    -------
    Erased, how much was deleted

    Raises
    ------
    InvalidInput    the id will not do
    NotFound        there is no such memory
    Locked          the session has ended

    Source: spec 14, 15.
    """
    checked_id("memoryId", memory_id)
    held = await open_memories(gm, session)
    memory = held.index.get(memory_id)
    if memory is not None and (echoed := _echoes(memory, held.index.latest(len(held.index)))):
        await memories.set_befores(gm.graph, session, echoed)
    async with gm.lock(session), gm.memory_lock(session):
        erased = await memories.delete_with_traces(gm.graph, session, memory_id, gm.clock())
        # Turns, memories and what is not formed yet are read anew without it.
        gm.lock_up(session)
    if erased is None:
        await check_running(gm, session)
        raise NotFound("There is no such memory.")
    return erased


def _echoes(memory: Memory, others: list[Memory]) -> list[Memory]:
    """Memories that keep the words of one as what was said before them, without those words."""
    words = {said(text) for text in (memory.content, memory.quote) if text}
    return [
        replace(other, before=None)
        for other in others
        if other.id != memory.id and other.before and any(each in said(other.before) for each in words)
    ]
