"""Junk among a student's memories: copies, near copies, loops, small talk, memories nobody said (spec 7).

Formation compares meanings; here the letters are compared, so that what its rule lets through is seen.
"""

import re
import zlib
from dataclasses import dataclass

import numpy as np
from rapidfuzz import fuzz

from graphmem.app import Graphmem
from graphmem.flows.session_cache import open_memories
from graphmem.model import Memory, MemoryRole, Session, Vector
from graphmem.store import memories
from graphmem.text.chunks import is_small_talk
from graphmem.text.doc import Doc
from graphmem.text.normalize import said

LOOP = 90.0
"""Likeness of spelling (0..100) from which a memory repeats what the companion had said just before."""
NEAR_COPY = 0.8
"""Cosine of letter n-grams from which two memories with the same numbers are near copies."""
GRAM, GRAM_BUCKETS = 4, 4096
"""Letters of an n-gram, and buckets they are hashed to."""
JUNK_BLOCK = 512
"""Memories compared at once with all others."""


@dataclass(frozen=True)
class Junk:
    """Numbers of a student's junk memories, by kind; one memory counts once, in the first kind that fits.

    exact : says what an older memory says
    near : says it in other words, with the same numbers and negations
    loops : repeats what the companion had said just before it
    talk : greets, thanks or praises and says nothing else, or asks
    no_span : names no place in its source
    """

    memories: int
    exact: int
    near: int
    loops: int
    talk: int
    no_span: int

    @property
    def rate(self) -> float:
        """Share of memories that are junk, 0..1."""
        junk = self.exact + self.near + self.loops + self.talk + self.no_span
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
    exact, near = find_copies(known)
    loops = {m.id for m in known if _is_loop(m)}
    talk = {m.id for m in known if _is_talk(m)}
    return Junk(
        memories=len(known),
        exact=len(exact),
        near=len(near - exact),
        loops=len(loops - near - exact),
        talk=len(talk - loops - near - exact),
        no_span=len(spanless - talk - loops - near - exact),
    )


def find_copies(known: list[Memory]) -> tuple[set[str], set[str]]:
    """Return memories that say what an older one says, which still holds: in the same words, or nearly.

    Parameters
    ----------
    known : of one student, oldest first

    Returns
    -------
    ids of those in the same words, and of those nearly so, with the same numbers and negations
    """
    # Two lessons on one exercise are two events, and told apart by their days.
    known = [memory for memory in known if memory.role is not MemoryRole.LESSON]
    exact: set[str] = set()
    near: set[str] = set()
    if not known:
        return exact, near
    seen: set[tuple[str | None, str]] = set()
    grams = np.stack([_grams(memory.content or "") for memory in known])
    numbers = [re.findall(r"\d+", memory.content or "") for memory in known]
    for memory in known:
        key = (memory.speaker, said(memory.content or ""))
        if key in seen:
            exact.add(memory.id)
        seen.add(key)
    for start in range(0, len(known), JUNK_BLOCK):
        for i, j in np.argwhere(grams[start : start + JUNK_BLOCK] @ grams.T >= NEAR_COPY):
            a, b = known[int(start + i)], known[int(j)]
            alike = a.speaker == b.speaker and numbers[int(start + i)] == numbers[int(j)]
            alike = alike and Doc(a.content or "").negates == Doc(b.content or "").negates
            # An episode is titled by what its first message told, and is never shown beside that.
            alike = alike and not (
                (a.role is not b.role) and MemoryRole.EPISODE in (a.role, b.role) and _one_source(a, b)
            )
            if j < start + i and alike and b.invalid_at is None:
                near.add(a.id)
    return exact, near


def _one_source(a: Memory, b: Memory) -> bool:
    return not set(a.source_refs).isdisjoint(b.source_refs)


def _grams(text: str) -> Vector:
    """Hashed letter n-grams of a text, of length 1."""
    plain = f" {' '.join(re.findall('[a-z0-9]+', text.lower()))} "
    counts = np.zeros(GRAM_BUCKETS, dtype=np.float32)
    for start in range(max(1, len(plain) - GRAM + 1)):
        counts[zlib.crc32(plain[start : start + GRAM].encode()) % GRAM_BUCKETS] += 1
    return counts / max(1e-9, float(np.linalg.norm(counts)))


def _is_talk(memory: Memory) -> bool:
    words = Doc(memory.quote or memory.content or "")
    spoken = [sentence for sentence in words.sentences if not is_small_talk(sentence)]
    return memory.role is MemoryRole.SAID and (not spoken or all(sentence.text.endswith("?") for sentence in spoken))


def _is_loop(memory: Memory) -> bool:
    content, before = said(memory.content or ""), said(memory.before or "")
    return memory.speaker is None and bool(before) and fuzz.ratio(content, before) >= LOOP
