"""Junk among a student's memories: copies, echoes of the companion, statements without a telling word (spec 7)."""

from collections.abc import Iterable
from dataclasses import dataclass

from graphmem.app import Graphmem
from graphmem.flows.session_cache import open_memories
from graphmem.model import Memory, MemoryRole, Session
from graphmem.text.answering import telling_stems
from graphmem.text.doc import Doc
from graphmem.text.normalize import said


@dataclass(frozen=True)
class Junk:
    """Numbers of statements that are junk, by kind; one counts once, in the first kind that fits.

    copies : has the words of an older statement of the same speaker that still holds
    echoes : repeats what the companion had said just before it
    empty : has no word rare enough to tell anything
    """

    statements: int
    copies: int
    echoes: int
    empty: int

    @property
    def rate(self) -> float:
        """Share of statements that are junk, 0..1."""
        return (self.copies + self.echoes + self.empty) / max(1, self.statements)


def count_junk(memories: Iterable[Memory]) -> Junk:
    """Count the junk among memories of one student, oldest first; episodes and lessons are not counted."""
    known, counts = set[tuple[str | None, str]](), {"copies": 0, "echoes": 0, "empty": 0}
    statements = [memory for memory in memories if memory.role is MemoryRole.SAID]
    for memory in statements:
        words = said(memory.content or "")
        if (memory.speaker, words) in known:
            counts["copies"] += 1
        elif memory.before and words == said(memory.before):
            counts["echoes"] += 1
        elif not telling_stems(Doc(memory.content or "")):
            counts["empty"] += 1
        if memory.invalid_at is None:
            known.add((memory.speaker, words))
    return Junk(len(statements), **counts)


async def find_junk(gm: Graphmem, session: Session) -> Junk:
    """Count the junk among all memories of a student.

    Raises
    ------
    Locked          the session has ended
    """
    index = (await open_memories(gm, session)).index
    return count_junk(sorted(index.latest(len(index)), key=lambda memory: (memory.timestamp, memory.id)))
