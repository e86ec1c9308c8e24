"""Junk among a student's memories: copies, near copies, loops, memories nobody said (spec 7)."""

from dataclasses import dataclass

import numpy as np
from rapidfuzz import fuzz

from graphmem.app import Graphmem
from graphmem.flows.formation_plan import SAME_COSINE, said_the_same
from graphmem.flows.session_cache import open_memories
from graphmem.model import Matrix, Memory, Session
from graphmem.store import memories
from graphmem.text.normalize import said

LOOP = 90.0
"""Likeness of spelling (0..100) from which a memory repeats what the companion had said just before."""
JUNK_BLOCK = 512
"""Memories compared at once with all others."""


@dataclass(frozen=True)
class Junk:
    """Numbers of a student's junk memories, by kind; one memory counts once, in the first kind that fits.

    exact : says what an older memory says
    near : says it in other words, with the same numbers and negations
    loops : repeats what the companion had said just before it
    no_span : names no place in its source
    """

    memories: int
    exact: int
    near: int
    loops: int
    no_span: int

    @property
    def rate(self) -> float:
        """Share of memories that are junk, 0..1."""
        junk = self.exact + self.near + self.loops + self.no_span
        return junk / self.memories if self.memories else 0.0


async def find_junk(gm: Graphmem, session: Session) -> Junk:
    """Look through all of a student's memories, read anew from the graph.

    Raises
    ------
    Locked          the session has ended
    """
    gm.cache.drop_memories(session)
    index = (await open_memories(gm, session)).index
    known = sorted(index.latest(len(index)), key=lambda m: (m.timestamp, m.id))
    spanless = set(await memories.list_spanless(gm.graph, session))
    exact, near = (
        _copies(known, np.stack([v for m in known if (v := index.vector(m.id)) is not None]))
        if known
        else (set(), set())
    )
    loops = {m.id for m in known if _is_loop(m)}
    return Junk(
        memories=len(known),
        exact=len(exact),
        near=len(near - exact),
        loops=len(loops - near - exact),
        no_span=len(spanless - loops - near - exact),
    )


def _copies(known: list[Memory], vectors: Matrix) -> tuple[set[str], set[str]]:
    """Memories that say what an older one says: in the same words, or nearly."""
    exact: set[str] = set()
    near: set[str] = set()
    seen: set[tuple[str | None, str]] = set()
    for memory in known:
        key = (memory.speaker, said(memory.content or ""))
        if key in seen:
            exact.add(memory.id)
        seen.add(key)
    for start in range(0, len(known), JUNK_BLOCK):
        cosines = vectors[start : start + JUNK_BLOCK] @ vectors.T
        for i, j in np.argwhere(cosines >= SAME_COSINE):
            a, b = known[int(start + i)], known[int(j)]
            alike = a.speaker == b.speaker and said_the_same(a.content or "", b.content or "")
            if j < start + i and alike:
                near.add(a.id)
    return exact, near


def _is_loop(memory: Memory) -> bool:
    content, before = said(memory.content or ""), said(memory.before or "")
    return memory.speaker is None and bool(before) and fuzz.ratio(content, before) >= LOOP
