"""Working memory of a read: messages and observations of which no memories are formed yet (spec 10).

They lie in the payloads of the jobs that will form memories of them, sealed. A read opens the newest of them and
searches the raw messages, so that it finds the latest ones and never runs a job.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from time import monotonic

import numpy as np

from graphmem.app import Graphmem
from graphmem.errors import Tampered
from graphmem.model import Memory, Observation, Session, SourceKind, Vector
from graphmem.model.memory import blank_memory
from graphmem.sealing import StudentLock
from graphmem.search.index import SearchIndex
from graphmem.store import jobs, students
from graphmem.store.jobs import Claimed, Kind
from graphmem.text.doc import Doc
from graphmem.text.questions import only_asks

MAX_UNFORMED = 200
"""Newest messages and observations that a read searches."""
EMBED_SECONDS = 0.25
"""Seconds after which a read embeds no more of them: the rest is found by its words, and embedded by later reads."""
EMBED_BATCH = 4
SNR = 500
"""Signal-to-noise ratio of a message that nothing has scored yet."""


async def read_unformed(gm: Graphmem, session: Session) -> SearchIndex | None:
    """An index of the newest messages and observations of which no memories are formed yet, None where there are none.

    Parameters
    ----------
    gm : Graphmem
    session : Session, open

    Raises
    ------
    Unavailable     Neo4j does not answer
    """
    state = gm.cache.state(session)
    index = state.unformed
    held = [] if index is None else [memory.id for memory in index.latest(len(index))]
    waiting, fresh = await jobs.list_unformed(gm.graph, session, held, MAX_UNFORMED)
    if not waiting:
        state.unformed = None
        return None
    # Kept from read to read, so that nothing is read, opened and embedded twice.
    index = state.unformed = SearchIndex(gm.embedder.dimension) if index is None else index
    ids = set(waiting)
    lock = await _lock(gm, session) if any(job.kind is Kind.OBSERVE for job in fresh) else None
    turn_state = gm.turn_state(session)
    said = () if turn_state is None else turn_state.messages
    known = {each.text: each.embedding for each in said if each.embedding is not None}
    await asyncio.to_thread(_refresh, index, ids, _tentative_memories(session, lock, fresh), known)
    await _embed(gm, index)
    gm.cache.weigh(session)
    return index


async def _lock(gm: Graphmem, session: Session) -> StudentLock | None:
    enrolled = await students.find_enrolled(gm.graph, session, gm.clock())
    return None if enrolled is None else enrolled.lock


def _refresh(index: SearchIndex, ids: set[str], fresh: Iterator[Memory], known: Mapping[str, Vector]) -> None:
    """Remove messages whose memories were formed, and add new ones with the vectors that turns computed."""
    index.remove([memory.id for memory in index.latest(len(index)) if memory.id not in ids])
    memories, nothing = list(fresh), np.zeros(index.dimension, dtype=np.float32)
    vectors = [known.get(memory.content or "", nothing) for memory in memories]
    index.put_many(memories, np.stack(vectors) if vectors else np.zeros((0, index.dimension), dtype=np.float32))


def _tentative_memories(session: Session, lock: StudentLock | None, waiting: Sequence[Claimed]) -> Iterator[Memory]:
    for job in waiting:
        # A tampered payload is reported when its job runs; it must not keep the rest from being read.
        with suppress(Tampered):
            if job.kind is Kind.FORM:
                said = jobs.opened_payload(session, job, jobs.FormJob)
                # A question is no memory: it would stand before the statement that answers the same question again.
                if said.tells and not all(only_asks(each.text.lower()) for each in Doc(said.text).sentences):
                    before = said.before
                    yield tentative_memory(
                        job.id, Observation(SourceKind.CHAT, said.turn_id, said.text, said.at, None, before)
                    )
            elif lock is not None:
                yield tentative_memory(job.id, jobs.opened_observation(session, lock, job))


def tentative_memory(job_id: str, said: Observation) -> Memory:
    """Return a tentative memory of a message as it was said."""
    return replace(
        blank_memory(said.at),
        id=job_id,
        content=said.text,
        speaker=said.speaker,
        before=said.before,
        source_kind=said.kind,
        source_refs=(said.ref,),
        snr=SNR,
    )


async def _embed(gm: Graphmem, index: SearchIndex) -> None:
    """Embed messages without a vector, newest first, as far as the time goes."""
    until = monotonic() + EMBED_SECONDS
    missing = [memory for memory in index.latest(len(index)) if not np.any(index.vector(memory.id))]
    for start in range(0, len(missing), EMBED_BATCH):
        if monotonic() >= until:
            return
        some = missing[start : start + EMBED_BATCH]
        vectors = await gm.embedder.embed([memory.content or "" for memory in some])
        await asyncio.to_thread(index.put_many, some, vectors)
